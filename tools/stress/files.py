"""Damaged and huge files of each format: only documented errors, in bounded time and memory."""

from __future__ import annotations

import dataclasses
import importlib.util
import random
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers import file_formats, mutations

from tools.stress import bombs, guard

MUTATIONS_PER_CASE = 150
SECONDS = 10  # of processor time to read a file
IMAGES = 'PNG', 'JPEG', 'GIF', 'BMP', 'TIFF', 'PPM', 'zip of images', 'labels'
WHOLE = 'zip of images', 'cached dataset'  # reading takes the memory that a file says it needs
OPTIONAL = {'h5py': ('hdf5',), 'PIL': IMAGES}  # formats by the packages that they need


def _formats() -> dict[str, Any]:
    formats = {**file_formats.FORMATS, 'autoload': bombs.AUTOLOAD}
    for package, names in OPTIONAL.items():
        if importlib.util.find_spec(package) is None:
            print(f'{package} is not installed: without {", ".join(names)}', flush=True)
            for name in names:
                formats.pop(name, None)
    return formats


def _read(format_: Any, data: bytes) -> bool:
    """Reads a file; returns whether it could be read."""
    path = Path('file').absolute()
    path.write_bytes(data)
    start = time.process_time()
    try:
        format_.read(str(path))
        good = True
    except format_.errors:
        good = False
    except BaseException as error:
        text = ''.join(traceback.format_exception(error))
        raise guard.Finding(f'reading raises what is not documented\n{text}') from None
    if (seconds := time.process_time() - start) > SECONDS:
        raise guard.Finding(f'reading took {seconds:.1f} seconds')
    return good


def case(rng: random.Random) -> dict[str, int]:
    """Reads damaged files of a format, and one of its bombs."""
    guard.forbid_network()
    formats = _formats()
    name = rng.choice(sorted(formats))
    format_ = formats[name]
    if name in WHOLE:
        format_ = dataclasses.replace(format_, errors=(*format_.errors, MemoryError))
    good = format_.make('good')
    if not _read(format_, format_.wrap(good)):
        raise guard.Finding(f'the good file of {name} cannot be read')
    makers: list[tuple[str, Callable[[], bytes]]] = [
        (f'mutation {i}', lambda data=data: format_.wrap(data))
        for i, data in enumerate(mutations.mutations(good, rng.random(), MUTATIONS_PER_CASE))
    ]
    if all_bombs := bombs.make_bombs(name):
        i = rng.randrange(len(all_bombs))
        makers.append((f'bomb {i}', all_bombs[i]))
    guard.limit_memory(bombs.SIZE // 2)
    counts = {f'{name} files': len(makers), 'could be read': 0}
    for text, make in makers:
        print(f'{name}: {text}', flush=True)
        counts['could be read'] += _read(format_, make())
    return counts
