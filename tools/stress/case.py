"""Runs one case of a part in this process: ``python -m tools.stress.case PART SEED``.

It prints what it does before it does it, and at last the counts as JSON.
"""

import importlib
import json
import random
import resource
import sys
import warnings


def main(part: str, seed: int) -> None:
    """Runs a case.

    Args:
        part: Name of a module of this package with a function ``case``.
        seed: Decides what the case does.

    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter('ignore')
    counts = importlib.import_module(f'{__package__}.{part}').case(random.Random(seed))
    print(json.dumps(counts), flush=True)


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]))
