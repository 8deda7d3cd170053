"""Runs functions in forked processes."""

import multiprocessing
import warnings


def in_child(func, *args, timeout=20):
    """Returns the result of a function in a forked process; fails if it takes too long."""
    context = multiprocessing.get_context('fork')
    recv, send = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(send, func, args))
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', '.*fork', DeprecationWarning)
        process.start()
    send.close()
    try:
        assert recv.poll(timeout), f'the forked process still waits after {timeout} seconds'
        return recv.recv()
    finally:
        process.kill()
        process.join()
        recv.close()


def _run(send, func, args):
    send.send(func(*args))
