"""Does bad things to the product, which must neither crash nor hang nor lose anything.

Each part is a module of this package with a function ``case``, which does what a seed decides and
counts it. A case runs in a process of its own. The seed of the stress gives those of the cases, so
that a finding can be replayed: what a case does is fixed, when it kills or switches threads is not.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import sys
import time

from tools.stress import guard

PARTS = {
    'threads': 'threads that share models and arrays compute what one thread computes',
    'workers': 'killed processes of MultiprocessIterator',
    'trainers': 'killed training programs that resume from snapshots',
    'ranks': 'killed ranks of distributed trainings that resume from checkpoints',
    'elastic': 'killed ranks of jobs over TCP that go on without them',
    'jobs': 'jobs of several ranks that end in all ways, of which nothing must stay',
    'files': 'damaged and huge files of each format',
    'memory': 'too little memory',
    'compiled': 'random programs that change one thing between compiled calls',
    'misuse': 'wrong calls of everything',
}
#: Of a case, which takes few. One that takes more, or 60 where nothing is said, hangs.
CASE_SECONDS = {'ranks': 500, 'elastic': 800, 'jobs': 500, 'compiled': 300}


def run_case(part: str, seed: int) -> collections.Counter[str]:
    """Runs a case in a process of its own.

    Args:
        part: Name of the part.
        seed: Decides what the case does.

    Returns:
        What it did, and how often.

    Raises:
        Finding: If something happened that must not.

    """
    with guard.temporary_folder() as folder:
        child = guard.Child('-m', 'tools.stress.case', part, str(seed), folder=folder)
        try:
            status = child.wait(CASE_SECONDS.get(part, 60))
            if status:
                raise guard.Finding(child.describe())
            return collections.Counter(json.loads(child.output.splitlines()[-1]))
        finally:
            child.kill()


def run_part(part: str, seed: int, seconds: float) -> int:
    """Runs cases of a part, at least one, and prints the findings and the counts.

    Args:
        part: Name of the part.
        seed: Decides the seeds of the cases.
        seconds: No case starts after this time.

    Returns:
        Number of findings.

    """
    rng = random.Random(f'{part} {seed}')
    deadline = time.monotonic() + seconds
    counts: collections.Counter[str] = collections.Counter()
    findings = 0
    while not counts['cases'] or time.monotonic() < deadline:
        counts['cases'] += 1
        case = rng.getrandbits(32)
        try:
            counts += run_case(part, case)
        except guard.Finding as finding:
            findings += 1
            print(f'FINDING: python -m tools.stress {part} --case {case}\n{finding}', flush=True)
    texts = ', '.join(f'{n} {name}' for name, n in counts.items())
    print(f'{part}: {texts}, {findings} findings', flush=True)
    return findings


def main(arguments: list[str] | None = None) -> int:
    """Runs the stress; returns the exit status."""
    parts = '\n'.join(f'  {name:9} {text}' for name, text in PARTS.items())
    parser = argparse.ArgumentParser(
        prog='python -m tools.stress',
        description=f'{__doc__}\n\nparts:\n{parts}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('parts', metavar='PART', nargs='*', help='parts to run, by default all')
    parser.add_argument('--seconds', type=float, default=600, help='time of each part (600)')
    parser.add_argument('--seed', type=int, default=0, help='decides what happens (0)')
    parser.add_argument('--case', type=int, help='replay a case of a part')
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f'unknown parts: {", ".join(sorted(unknown))}')
    if options.case is None:
        parts = options.parts or list(PARTS)
        return int(any([run_part(part, options.seed, options.seconds) for part in parts]))
    if len(options.parts) != 1:
        parser.error('--case needs one part')
    try:
        print(dict(run_case(options.parts[0], options.case)))
    except guard.Finding as finding:
        print(finding)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
