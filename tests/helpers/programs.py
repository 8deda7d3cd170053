"""Runs Python programs in processes of their own, which import what this one imports."""

import os
import subprocess
import sys
import textwrap


def _environment(variables):
    paths = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, 'PYTHONPATH': paths, **variables}


def run_python(code, status=0, timeout=100, options=(), cwd=None, stdin=None, **variables):
    """Runs a program to its end.

    Args:
        code (str): The program, which may be indented.
        status (int): Exit status that the program must have, negative for a signal. ``None``
            stands for any.
        timeout (float): Seconds after which the program hangs.
        options: Options of the interpreter.
        cwd: Working folder.
        stdin (str): What the program can read, by default nothing.
        **variables: Environment variables to set.

    Returns:
        subprocess.CompletedProcess: What it printed, among others.

    """
    result = subprocess.run(
        [sys.executable, *options, '-c', textwrap.dedent(code)],
        input=stdin or '',
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=_environment(variables),
    )
    assert status in (None, result.returncode), (
        f'exit status {result.returncode}\n{result.stdout}{result.stderr}'
    )
    return result


def start_python(*arguments, **variables):
    """Starts a program in a session of its own, with pipes for what it prints.

    Args:
        *arguments: Arguments of the interpreter.
        **variables: Environment variables to set.

    Returns:
        subprocess.Popen: The process.

    """
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=_environment(variables),
    )
