"""Runs a script on one rank of :mod:`chainermn.run`. If it fails, all ranks end."""

from __future__ import annotations

import io
import os
import runpy
import sys

from chainermn import global_except_hook
from chainermn._mpi import abort


def main() -> None:
    """Runs the script that the arguments name, as Python itself does."""
    del sys.argv[0]
    if global_except_hook.is_wanted():
        global_except_hook.add_hook()
    for stream in sys.stdout, sys.stderr:
        if isinstance(stream, io.TextIOWrapper):
            # Whole lines, so that the output of several ranks does not interleave.
            stream.reconfigure(line_buffering=True, write_through=False)
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    try:
        runpy.run_path(sys.argv[0], run_name='__main__')
    except SystemExit as error:
        if error.code not in (None, 0):
            _abort(error.code)
        raise


def _abort(code: object) -> None:
    """Ends all ranks: the others would wait for messages of this one."""
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    global_except_hook._wait_for_launcher()
    abort(code)


if __name__ == '__main__':
    main()
