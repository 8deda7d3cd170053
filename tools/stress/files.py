"""Damaged and huge files of each format: only documented errors, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import random
import time
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path

from tools.stress import formats, guard

MUTATIONS_PER_CASE = 150
SECONDS = 10  # of processor time to read a file
NUMBERS = [n.to_bytes(size, order) for order in ('little', 'big') for size in (4, 8)
           for n in (2**31 - 1, 2**31, 2**32 - 1, 2**20)]  # fmt: skip


def _flip(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 2, 10])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, data: bytearray) -> None:
    i = rng.randrange(len(data))
    data[i] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def _cut(rng: random.Random, data: bytearray) -> None:
    i = rng.randrange(len(data))
    del data[i : rng.choice([i + 1, i + 10, len(data)])]


def _double(rng: random.Random, data: bytearray) -> None:
    i = rng.randrange(len(data))
    data[i:i] = data[i : i + rng.choice([1, 8, 100, 10_000])]


def _number(rng: random.Random, data: bytearray) -> None:
    number = rng.choice(NUMBERS)
    i = rng.randrange(len(data))
    data[i : i + len(number)] = number


MUTATIONS = _flip, _set, _cut, _double, _number


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Returns a damaged copy of a file; in half of the zip files, the damage is in a member.

    Args:
        rng: Decides how it is damaged.
        data: Content of a good file.

    """
    if data[:2] == b'PK' and rng.random() < 0.5:
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as good, zipfile.ZipFile(file, 'w') as bad:
            chosen = rng.choice(good.namelist())
            for name in good.namelist():
                member = good.read(name)
                bad.writestr(name, mutate(rng, member) if name == chosen else member)
        return file.getvalue()
    if data[:2] == b'\x1f\x8b' and rng.random() < 0.5:
        return gzip.compress(mutate(rng, gzip.decompress(data)))
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if changed:
            rng.choice(MUTATIONS)(rng, changed)
    return bytes(changed)


def _read(format_: formats.Format, data: bytes) -> bool:
    """Reads a file; returns whether it could be read."""
    Path('file').write_bytes(data)
    start = time.process_time()
    try:
        format_.read('file')
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
    """Reads damaged files of a format, and its bombs."""
    guard.forbid_network()
    table = formats.make_formats()
    name = rng.choice(sorted(table))
    format_ = table[name]
    good = format_.good()
    if not _read(format_, good):
        raise guard.Finding(f'the good file of {name} cannot be read')
    makers: list[tuple[str, Callable[[], bytes]]] = [
        (f'mutation {i}', lambda: mutate(rng, good)) for i in range(MUTATIONS_PER_CASE)
    ]
    if format_.bombs:
        i = rng.randrange(len(format_.bombs))
        makers.append((f'bomb {i}', format_.bombs[i]))
    guard.limit_memory(formats.BOMB_SIZE // 2)
    counts = {f'{name} files': len(makers), 'could be read': 0}
    for text, make in makers:
        print(f'{name}: {text}', flush=True)
        counts['could be read'] += _read(format_, make())
    return counts
