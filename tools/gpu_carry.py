"""Makes a folder to carry to a GPU without a network: ``python tools/gpu_carry.py FOLDER``.

It has the sources of the commit that is checked out, what their build and tests need beside CUDA,
NumPy and CuPy, and ``install.sh``, which unpacks the sources where it is called and installs the
rest in the Python that its argument names. Then ``python tools/gpu_verify.py`` runs there.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 64 << 20
PACKAGES = (
    'cmake ninja pybind11 scipy-openblas32 mpich mpi4py pytest pytest-timeout pytest-xdist'.split()
)
_INSTALL = """\
#!/usr/bin/env bash
# Unpacks Chainer in the current folder and installs what its tests need: install.sh [PYTHON]
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
mkdir -p chainer
tar xzf "$folder/chainer.tar.gz" -C chainer
"${1:-python3}" -m pip install --quiet --no-index --find-links "$folder/wheels" PACKAGES
echo 'now: cd chainer && python tools/gpu_verify.py --budget 570 --resume'
echo 'which goes on where it ended if it is called again'
"""


def download(folder, python, packages):
    """Downloads the wheels of packages for a version of Python on Linux."""
    platforms = [f'manylinux_2_{n}_x86_64' for n in (17, 24, 26, 27, 28)]
    platforms += ['manylinux2014_x86_64', 'manylinux1_x86_64', 'linux_x86_64']
    command = [sys.executable, '-m', 'pip', 'download', '--quiet', '--dest', str(folder)]
    command += ['--only-binary=:all:', '--python-version', python]
    for platform in platforms:
        command += ['--platform', platform]
    subprocess.run([*command, *packages], check=True)


def make(folder, python, without=()):
    """Makes the folder, without packages that are there; returns its size in bytes."""
    packages = [name for name in PACKAGES if name not in without]
    folder.mkdir(parents=True)
    archive = ['git', 'archive', '--format=tar.gz', f'--output={folder / "chainer.tar.gz"}', 'HEAD']
    subprocess.run(archive, cwd=ROOT, check=True)
    download(folder / 'wheels', python, packages)
    script = folder / 'install.sh'
    script.write_text(_INSTALL.replace('PACKAGES', ' '.join(packages)))
    script.chmod(0o755)
    return sum(path.stat().st_size for path in folder.rglob('*') if path.is_file())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folder', type=Path, help='the folder to make')
    parser.add_argument(
        '--python', default='{}.{}'.format(*sys.version_info), help='version of Python there'
    )
    parser.add_argument(
        '--without', nargs='+', default=(), choices=PACKAGES, help='packages that are there already'
    )
    args = parser.parse_args(arguments)
    if args.folder.exists():
        return f'{args.folder} exists'
    size = make(args.folder.resolve(), args.python, args.without)
    print(f'{args.folder}: {size / (1 << 20):.1f} MiB')
    return f'that is more than {LARGEST >> 20} MiB' if size > LARGEST else None


if __name__ == '__main__':
    sys.exit(main())
