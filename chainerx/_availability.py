"""Whether the compiled core can be used and, if not, why."""

from __future__ import annotations

import importlib.util
import warnings


class NotBuiltError(RuntimeError, AttributeError):
    """Raised for every name of ChainerX that needs the compiled core."""


def _find_reason():
    try:
        from chainerx import _core  # noqa: F401
    except ImportError as error:
        if importlib.util.find_spec('chainerx._core') is None:
            return 'the compiled core is not there'
        # Somebody has built it and should hear that it is not used.
        warnings.warn(
            f'The compiled core of ChainerX cannot be loaded: {error}', RuntimeWarning, stacklevel=4
        )
        return f'the compiled core cannot be loaded: {error}'
    return None


def message() -> str:
    """What a user should read who needs the core."""
    return (
        'ChainerX is not available. Build it with CHAINER_BUILD_CHAINERX=1 pip install . '
        f'(reason: {reason})'
    )


#: Why the core cannot be used; ``None`` when it can.
reason = _find_reason()
