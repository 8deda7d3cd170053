"""Damaged files made from good ones, to test that readers refuse them."""

import json
import random
import resource
import signal
import sys
import tempfile
import time

from helpers.programs import run_python

# Numbers that tend to break readers, in the widths that formats use.
NUMBERS = [
    value.to_bytes(width, order, signed=value < 0)
    for width in (1, 2, 4, 8)
    for value in (0, 1, -1, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)))
    for order in ('little', 'big')
]


def mutations(valid_bytes, seed, count):
    """Yields damaged copies of the content of a file, always the same for a seed.

    Args:
        valid_bytes (bytes): Content of a good file.
        seed: Seed of the random numbers, an integer or a string.
        count (int): How many to make.

    """
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(valid_bytes)
        for _ in range(rng.choice((1, 1, 2, 5))):
            _mutate(data, rng)
        yield bytes(data)


def _mutate(data, rng):
    # Headers and tables are at the ends of files.
    size = len(data)
    position = rng.choice((rng.randrange(size + 1), rng.randrange(min(64, size) + 1)))
    if rng.random() < 0.3:
        position = size - position
    kind = rng.randrange(8)
    if kind <= 1:
        data[position : position + 1] = bytes([rng.randrange(256)])
    elif kind == 2 and position < size:
        data[position] ^= 1 << rng.randrange(8)
    elif kind <= 4:
        number = rng.choice(NUMBERS)
        data[position : position + len(number)] = number
    elif kind == 5:
        data[position:position] = rng.randbytes(rng.choice((1, 4, 100)))
    elif kind == 6:
        start = rng.randrange(size + 1)
        data[position:position] = data[start : start + rng.choice((4, 30, 1000))]
    elif rng.random() < 0.5:
        del data[position : position + rng.choice((1, 4, 30))]
    else:
        del data[position:]


CHILD = 'from helpers import mutations; mutations.main()'


class _Hang(BaseException):
    """No reader catches this."""


def _stop(*args):
    raise _Hang


def run(names, seed, count, memory=1 << 29, seconds=20):
    """Reads damaged files, and returns what each format does with them.

    Args:
        names (list of str): Keys of ``helpers.file_formats.FORMATS``.
        seed (int): Seed.
        count (int): Number of files per format.
        memory (int): Bytes that reading a file may take.
        seconds (float): Time that reading a file may take.

    Returns:
        dict: By format, the number of files that were read and refused, and a list of failures,
        each the index of the file and what happened.

    """
    arguments = json.dumps([names, seed, count, memory, seconds])
    process = run_python(CHILD, status=None, stdin=arguments)
    lines = process.stdout.splitlines()
    results = {name: {'read': 0, 'refused': 0, 'failures': []} for name in names}
    case = None
    for line in lines:
        *case, outcome = json.loads(line)
        if outcome in ('read', 'refused'):
            results[case[0]][outcome] += 1
        elif outcome != 'start':
            results[case[0]]['failures'].append((case[1], outcome))
    if process.returncode != 0:
        name, i = case or (names[0], 0)
        results[name]['failures'].append(
            (i, f'exit status {process.returncode}: {process.stderr[-2000:]}')
        )
    return results


def main():
    """Does the work of :func:`run`, in a process that may crash."""
    import os
    import warnings

    from helpers import file_formats

    # Libraries may print to the standard output.
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    warnings.simplefilter('ignore')
    signal.signal(signal.SIGALRM, _stop)
    names, seed, count, memory, seconds = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            fmt = file_formats.FORMATS[name]
            path = os.path.join(folder, 'file')
            valid = fmt.make(path)
            _write(path, fmt.wrap(valid))
            fmt.read(path)  # the good file; this also imports all that reading takes
            with open('/proc/self/statm') as f:
                used = int(f.read().split()[0]) * resource.getpagesize()
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (used + memory, hard))
            for i, data in enumerate(mutations(valid, f'{name} {seed}', count)):
                print(json.dumps([name, i, 'start']), file=out, flush=True)
                _write(path, fmt.wrap(data))
                print(json.dumps([name, i, _outcome(fmt, path, seconds)]), file=out)
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    out.flush()


def _write(path, data):
    with open(path, 'wb') as f:
        f.write(data)


def _outcome(fmt, path, seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    start = time.monotonic()
    try:
        fmt.read(path)
    except _Hang:
        return f'takes more than {seconds} seconds'
    except fmt.errors as e:
        if isinstance(e, RecursionError):
            return repr(e)
        return 'refused'
    except BaseException as e:
        return f'{e!r} after {time.monotonic() - start:.1f} s'
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return 'read'
