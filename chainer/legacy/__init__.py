"""Names that NumPy and Python have removed, for programs that were written before.

Programs for Chainer 7 often use ``np.int`` or ``np.asscalar``, which NumPy has removed since. After
``import chainer`` they mean again what they meant, with a ``DeprecationWarning`` that names the
line. ``CHAINER_LEGACY=0`` in the environment turns this off.

Some programs use more, such as ``collections.Iterable``, ``imp``, or ``numpy.array`` of sequences
of unequal lengths. ``python -m chainer.legacy`` runs such a program as it is, without warnings::

    python -m chainer.legacy train.py --batchsize 100
    python -m chainer.legacy -m pytest tests

So does ``CHAINER_LEGACY=1``, from ``import chainer`` on; the command sets it for the processes that
a program starts. Programs for Chainer 5 and 6 then also find modules where they were before Chainer
moved them, such as ``chainer.links.connection.lstm``.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy

__all__ = ['install']


def install() -> None:
    """Gives NumPy and Python the names that they have removed, for the whole process.

    What is there stays as it is. The names mean what they meant, such as ``numpy.float`` Python's
    ``float``, and so do nested sequences of unequal lengths in ``numpy.array``, which become arrays
    of objects. Methods of arrays that NumPy has removed, such as ``itemset``, cannot come back.
    Modules that Chainer 6 and 7 have moved are also where they were, such as
    ``chainer.functions.activation.lstm`` and ``chainer.functions.pooling.max_pooling_2d``.

    .. admonition:: Example

        >>> import subprocess, sys
        >>> code = 'import chainer.legacy; chainer.legacy.install(); import numpy as np; '
        >>> code += 'print(np.asscalar(np.ones(1, np.float)), np.array([[1], [2, 3]]).dtype)'
        >>> subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout
        '1.0 object\\n'

    """
    # Few programs need them.
    from chainer.legacy import _chainer, _numpy, _python

    _numpy.install()
    _python.install()
    _chainer.install()


@functools.cache
def _names_of_numpy() -> dict[str, Any]:
    from chainer.legacy import _numpy

    return _numpy.names()


def _answer_for_numpy() -> None:
    """Lets NumPy, asked for a name that it has removed, warn and return what it was."""
    # Python asks it for names that are not there.
    ask_numpy: Any = vars(numpy)['__getattr__']

    @functools.wraps(ask_numpy)
    def find(name: str) -> Any:
        value = None if name.startswith('_') else _names_of_numpy().get(name)
        if value is None:
            return ask_numpy(name)
        warnings.warn(
            f'NumPy has removed `np.{name}`; Chainer keeps it for old programs',
            DeprecationWarning,
            stacklevel=2,
        )
        return value

    if not hasattr(ask_numpy, '__wrapped__'):
        vars(numpy)['__getattr__'] = find
