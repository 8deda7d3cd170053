"""The extras of the package install what the CUDA backend loads."""

import re
from pathlib import Path

import pytest

# The major versions of libraries in CUDA's toolkits, which name them by extras.
TOOLKITS = {'cublas': {'12': 12, '13': 13}, 'cusolver': {'12': 11, '13': 12}}
ROOT = Path(__file__).resolve().parents[2]
BACKEND = ROOT / 'chainerx_cc' / 'chainerx' / 'backends' / 'cuda'
LIBRARY = re.compile(r'Library library\{\s*"\w+",\s*\{([^}]*)\},\s*"([^"]*)"', re.DOTALL)


def _libraries():
    """Files that the backend looks for, and the package that has them."""
    for source in sorted(BACKEND.glob('*.cc')):
        for files, package in LIBRARY.findall(source.read_text()):
            yield package.partition('-cu1')[0], re.findall(r'"([^"]*)"', files)


def _extra(name):
    text = (ROOT / 'pyproject.toml').read_text()
    entries = re.search(rf'^{name} = \[\n(.*?)^\]', text, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r'"([^"]*)"', entries)


def test_some_are_found():
    names = 'cublas', 'cudnn', 'cusolver', 'nccl'
    assert {package for package, _ in _libraries()} == {f'nvidia-{name}' for name in names}


@pytest.mark.parametrize('cuda', ['12', '13'])
@pytest.mark.parametrize('package, files', list(_libraries()))
def test_extras(cuda, package, files):
    library = package.removeprefix('nvidia-')
    # Wheels of CUDA 13's own libraries share a folder; others have one each.
    folders = [f'nvidia/{library}/']
    if cuda == '13':
        folders.insert(0, 'nvidia/cu13/')
    file = next(file for folder in folders for file in files if file.startswith(folder))
    major = int(file.rpartition('.')[2])
    if library in TOOLKITS:
        names, version = re.search(
            r'cuda-toolkit\[(.*?)\]==(\d+)\.\*', '\n'.join(_extra(f'cuda{cuda}x'))
        ).groups()
        assert library in names.split(',') and version == cuda
        assert TOOLKITS[library][cuda] == major
    else:
        name = f'{package}-cu{cuda}'
        requirement = next(entry for entry in _extra(f'cuda{cuda}x') if entry.startswith(name))
        assert f'>={major},<{major + 1}' in requirement
