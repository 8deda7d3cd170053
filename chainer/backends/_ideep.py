"""The package of iDeep, or a placeholder. The public names are in ``intel64``."""

from __future__ import annotations

import importlib
from typing import Any

error: ImportError | None = None
ideep: Any
try:
    ideep = importlib.import_module('ideep4py')
    mdarray: type[Any] = ideep.mdarray
except ImportError as e:
    ideep = None
    error = e.with_traceback(None)  # without the frames of the code that imports Chainer

    class mdarray:  # type: ignore[no-redef]  # either of the two
        """Placeholder for the array type of iDeep if iDeep is absent, without instances.

        .. admonition:: Example

            >>> from chainer.backends import intel64
            >>> isinstance(np.zeros(2), intel64.mdarray)
            False

        """

    mdarray.__module__ = 'chainer.backends.intel64'
