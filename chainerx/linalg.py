"""Linear algebra: the ops of the core whose names begin with ``_linalg_``."""
from chainerx import _core

_PREFIX = '_linalg_'

globals().update(
    (name[len(_PREFIX):], getattr(_core, name)) for name in dir(_core) if name.startswith(_PREFIX))


def _is_lapack_available():
    """Returns whether the routines of this module can be used; LAPACK is part of every build."""
    return True
