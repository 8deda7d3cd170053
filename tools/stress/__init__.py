"""A stress of the whole product, see ``python -m tools.stress --help``."""

import sys
from pathlib import Path

# The helpers of the tests.
sys.path.append(str(Path(__file__).resolve().parents[2] / 'tests'))
