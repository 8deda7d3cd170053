"""Runs a program with names that NumPy and Python have removed: see :mod:`chainer.legacy`."""

from __future__ import annotations

import os
import runpy
import sys

from chainer import legacy

_USAGE = 'usage: python -m chainer.legacy [-m MODULE | SCRIPT] [ARGUMENT ...]'


def main(arguments: list[str]) -> None:
    """Runs the program that a command line names.

    Args:
        arguments: The command line without the name of this module.

    """
    is_module = arguments[:1] == ['-m']
    program = arguments[is_module : is_module + 1]
    if not program or program[0].startswith('-'):
        sys.exit(_USAGE)
    os.environ['CHAINER_LEGACY'] = '1'
    legacy.install()
    sys.argv[:] = arguments[is_module:]
    if is_module:
        runpy.run_module(program[0], run_name='__main__', alter_sys=True)
    else:
        # As Python itself does for scripts; it has put the working folder there.
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name='__main__')


if __name__ == '__main__':
    main(sys.argv[1:])
