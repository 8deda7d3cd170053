"""What must be in a wheel with ChainerX, and what must not."""

import io
import zipfile

LARGEST = 20e6  # bytes
REQUIRED = {
    'the compiled module': 'chainerx/_core.',
    'the library': 'chainerx/libchainerx.',
    'OpenBLAS': 'chainerx/libscipy_openblas.',
    'the licence of OpenBLAS': 'chainerx/LICENSE.openblas.txt',
    'the headers': 'chainerx/include/chainerx/chainerx.h',
    'the CMake package': 'chainerx/cmake/ChainerXConfig.cmake',
    'the types': 'chainerx/_core.pyi',
    'the digits': 'chainer/datasets/_digits/digits.bin',
    'the licence of the digits': 'chainer/datasets/_digits/README.md',
}
_FOREIGN = ('.cc', '.o', '.a', '.pyc')


def unresolved_symbols(file):
    """Returns what a shared object looks up without saying where, apart from Python's own symbols.

    Every function of the system's libraries has a version there; a name without one is missing
    from the version that the link was made for.
    """
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerSymSection

    elf = ELFFile(file)
    symbols = elf.get_section_by_name('.dynsym')
    versions = elf.get_section_by_name('.gnu.version')
    assert isinstance(versions, GNUVerSymSection)
    return {
        symbol.name
        for i, symbol in enumerate(symbols.iter_symbols())
        if symbol['st_shndx'] == 'SHN_UNDEF'
        and symbol['st_info']['bind'] == 'STB_GLOBAL'
        and versions.get_symbol(i)['ndx'] in ('VER_NDX_LOCAL', 'VER_NDX_GLOBAL')
        and not symbol.name.startswith(('Py', '_Py'))
    }


def _shared_objects(wheel, names):
    """Returns {name: names that it does not find}; what one library of the wheel has, another finds."""
    missing, defined = {}, set()
    for name in names:
        if name.startswith('chainerx/') and ('.so' in name) and 'openblas' not in name:
            data = io.BytesIO(wheel.read(name))
            missing[name] = unresolved_symbols(data)
            defined |= _defined_symbols(data)
    return {name: found - defined for name, found in missing.items() if found - defined}


def _defined_symbols(file):
    from elftools.elf.elffile import ELFFile

    symbols = ELFFile(file).get_section_by_name('.dynsym').iter_symbols()
    return {symbol.name for symbol in symbols if symbol['st_shndx'] != 'SHN_UNDEF'}


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
        if not any('.dist-info/licenses/LICENSE' in name for name in names):
            problems.append('the licence is missing')
        problems += [f'{name} does not belong there' for name in names if name.endswith(_FOREIGN)]
        for name, symbols in _shared_objects(wheel, names).items():
            problems.append(f'{name} needs newer libraries for {", ".join(sorted(symbols))}')
    return problems
