"""Links for older C and C++ libraries than this machine's.

The system's GCC compiles, as in any other build; only the link differs. The symbols of an older
version of glibc come from ``ziglang``. Of the C++ library, those that GCC 8 had stay with the
system's library, so that exceptions pass between libraries, and newer ones come from the static
archive.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

#: The newest versions of the symbols in the C++ library of GCC 8, which manylinux_2_28 assumes.
NEWEST_CXX = {'GLIBCXX': (3, 4, 24), 'CXXABI': (1, 3, 11)}
SHIM = Path(__file__).with_name('glibc_shim.c')
_TYPES = {'FUNC': 'function', 'IFUNC': 'function', 'OBJECT': 'object', 'TLS': 'tls_object'}


def _run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def _compiler():
    return os.environ.get('CXX', 'g++')


def _path_of(library):
    return _run(_compiler(), f'-print-file-name={library}').stdout.strip()


def _glibc_files(folder, target):
    """Returns the paths of the C library's files of a version, by name."""
    source = folder / 'empty.c'
    source.write_text('int main(void) { return 0; }\n')
    output = str(folder / 'empty')
    zig = _run(
        sys.executable, '-m', 'ziglang', 'cc', '-v', '-target', target, str(source), '-o', output
    )
    # The first run also links libraries of Zig's own, before the program.
    link = re.findall(r'^ld\.lld .*', zig.stderr, re.M)[-1]
    found = [re.fullmatch(r'.*/lib(\w+)\.(so\.\d+|a)', word) for word in link.split()]
    return {match.group(1): match.group() for match in found if match}


def _make_c_library(folder, target):
    files = _glibc_files(folder, target)
    link = folder / 'libm.so'
    link.unlink(missing_ok=True)
    link.symlink_to(files['m'])
    shim = folder / 'shim.o'
    _run(_compiler(), '-x', 'c', '-O2', '-fPIC', '-c', str(SHIM), '-o', str(shim))
    (folder / 'libshim.a').unlink(missing_ok=True)
    _run('ar', 'rcs', str(folder / 'libshim.a'), str(shim))
    # Newer versions have the other libraries in libc, so that builds need not name them.
    script = 'INPUT({c} {c_nonshared} {shim} AS_NEEDED({pthread} {dl} {rt} {ld}))\n'
    (folder / 'libc.so').write_text(script.format(shim=folder / 'libshim.a', **files))


def is_old_cxx_symbol(version):
    """Returns whether GCC 8's C++ library has the symbols of a version such as GLIBCXX_3.4.24."""
    match = re.fullmatch(r'(GLIBCXX|CXXABI)_([\d.]+)', version)
    return bool(match) and tuple(map(int, match[2].split('.'))) <= NEWEST_CXX[match[1]]


def old_cxx_symbols(listing):
    """Returns {version: [(name, type)]} of the old symbols in a ``readelf --dyn-syms`` listing."""
    symbols = {}
    pattern = r'^ *\d+: \w+ +\w+ (\w+) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)@@(\S+)'
    for kind, name, version in re.findall(pattern, listing, re.M):
        if kind in _TYPES and is_old_cxx_symbol(version):
            symbols.setdefault(version, []).append((name, kind))
    return symbols


def _make_cxx_library(folder):
    listing = _run('readelf', '--dyn-syms', '--wide', _path_of('libstdc++.so.6')).stdout
    symbols = old_cxx_symbols(listing)
    # The linker needs no code, only names.
    with (folder / 'libstdc++.s').open('w') as file:
        for name, kind in [symbol for group in symbols.values() for symbol in group]:
            section = '.section .tbss,"awT",@nobits' if kind == 'TLS' else '.text'
            file.write(f'{section}\n.globl {name}\n.type {name}, @{_TYPES[kind]}\n')
            file.write(f'{name}: .zero 8\n.size {name}, 8\n')
        file.write('.section .note.GNU-stack,"",@progbits\n')
    with (folder / 'libstdc++.map').open('w') as file:
        for version, group in symbols.items():
            names = '; '.join(f'"{name}"' for name, _ in group)
            file.write(f'{version} {{ global: {names}; }};\n')
    library = folder / 'libstdc++.so.6'
    _run(
        *(_compiler(), '-shared', '-nostdlib', str(folder / 'libstdc++.s'), '-o', str(library)),
        f'-Wl,--version-script={folder}/libstdc++.map,-soname,libstdc++.so.6',
    )
    (folder / 'libstdc++.so').write_text(f'INPUT({library} {_path_of("libstdc++.a")})\n')


def make_link_folder(folder, machine, glibc):
    """Makes a folder for the linker's ``-L``.

    Args:
        folder (pathlib.Path): Folder to make.
        machine (str): Processor, for example ``x86_64``.
        glibc (str): Version of glibc, for example ``2.28``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _make_c_library(folder, f'{machine}-linux-gnu.{glibc}')
    _make_cxx_library(folder)


def cmake_arguments(folder):
    """Returns CMake's arguments for builds that link with a folder of ``make_link_folder``."""
    flags = f'-s -L{folder} -Wl,--exclude-libs,ALL'
    return [
        # The library finds everything that it calls; what the module lacks is the interpreter's.
        f'-DCMAKE_SHARED_LINKER_FLAGS={flags} -Wl,-z,defs',
        f'-DCMAKE_MODULE_LINKER_FLAGS={flags}',
    ]
