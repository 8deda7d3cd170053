"""What must be in a wheel with ChainerX, and what must not."""

import re
import subprocess
import sys
import tempfile
import zipfile

LARGEST = 20e6  # bytes
REQUIRED = {
    'the compiled module': 'chainerx/_core.cpython-',
    'the library': 'chainerx/libchainerx.',
    'the library for ONNX': 'chainerx/libchainerx_onnx.',
    'OpenBLAS': 'chainerx/libscipy_openblas.',
    'the headers': 'chainerx/include/chainerx/chainerx.h',
    'the headers for ONNX': 'chainerx/include/chainerx_onnx/onnx.h',
    'the CMake package': 'chainerx/cmake/ChainerXConfig.cmake',
    'the types': 'chainerx/_core.pyi',
    'what ONNX says of its operators': 'onnx_chainer/schemas.txt',
    'the operators of ONNX Runtime': 'onnx_chainer/schemas_of_onnxruntime.txt',
    'the values of their attributes': 'onnx_chainer/attribute_values.txt',
    'the digits': 'chainer/datasets/_digits/digits.bin',
    'the licence of the digits': 'chainer/datasets/_digits/README.md',
}
LICENCES = {
    'the licence': 'LICENSE',
    'the licence of OpenBLAS': 'chainerx/LICENSE.openblas.txt',
    'the licence of pocketfft': 'chainerx/LICENSE.pocketfft.txt',
    'the licence of pybind11': 'chainerx/LICENSE.pybind11.txt',
}
# Other files than the package's, and backends: the CPU's is a part of the library.
_FOREIGN = re.compile(r'\.(cc|o|a|pyc)$|^chainerx/.*\bbackends/')


def unresolved_symbols(libraries):
    """Returns what shared objects look up without saying where, apart from Python's own symbols.

    Every function of the system's libraries has a version there; a name without one is missing from
    the version that the link was made for, unless another of these objects has it.

    Args:
        libraries (list of pathlib.Path): Shared objects that find each other.

    Returns:
        set of str: Names.
    """
    wanted, found = set(), set()
    for path in libraries:
        listing = subprocess.check_output(['readelf', '--dyn-syms', '--wide', str(path)], text=True)
        for bind, section, name in re.findall(
            r'^ *\d+: \w+ +\w+ \w+ +(\w+) +\w+ +(\w+) ([^\s@]+)$', listing, re.M
        ):
            if section != 'UND':
                found.add(name)
            elif bind == 'GLOBAL' and not name.startswith(('Py', '_Py')):
                wanted.add(name)
    return wanted - found


def _unresolved_in(wheel):
    own = [
        name
        for name in wheel.namelist()
        if re.match(r'chainerx/(_core\.|libchainerx(_onnx)?\.so)', name)
    ]
    with tempfile.TemporaryDirectory() as folder:
        return unresolved_symbols([wheel.extract(name, folder) for name in own if '.so' in name])


def problems_of(path):
    """Returns what is wrong with a wheel, as lines of text."""
    problems = []
    if path.stat().st_size > LARGEST:
        problems.append(f'it has {path.stat().st_size / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f}')
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        for what, start in REQUIRED.items():
            if not any(name.startswith(start) for name in names):
                problems.append(f'{what} is missing: {start}')
        for what, path in LICENCES.items():
            if not any(name.endswith(f'.dist-info/licenses/{path}') for name in names):
                problems.append(f'{what} is missing: {path}')
        problems += [f'{name} does not belong there' for name in names if _FOREIGN.search(name)]
        # Only ELF has versions of symbols; macOS compiles against those of the oldest system.
        if sys.platform == 'linux' and (unresolved := _unresolved_in(wheel)):
            problems.append(f'no old library has {", ".join(sorted(unresolved))}')
    return problems
