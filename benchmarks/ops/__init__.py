"""What ``single_ops.py`` times: the benchmarks in the table of operations, and others."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / 'tests'))

import op_table  # noqa: E402

from ops import expressions  # noqa: E402

# (name of the op or None, benchmark)
_ALL = [(row.name, bench) for row in op_table.ROWS + op_table.OTHERS for bench in row.bench]
_ALL += [(None, bench) for bench in expressions.BENCHMARKS]


def select(kind, texts):
    """The small or large benchmarks: of the ops in ``texts``, or with a label that starts so."""
    texts = tuple(texts)
    return [
        bench
        for name, bench in _ALL
        if bench.small == (kind == 'small')
        and (not texts or name in texts or bench.label.startswith(texts))
    ]
