"""Calls of functions in many threads at the same time."""

import contextlib
import threading

N_THREADS = 4
N_TURNS = 10


def in_threads(f, n_turns=N_TURNS):
    """Calls ``f(thread, turn)`` in all threads; raises what was raised there."""
    errors = []
    barrier = threading.Barrier(N_THREADS)

    def work(i):
        try:
            barrier.wait()
            for turn in range(n_turns):
                f(i, turn)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(N_THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


@contextlib.contextmanager
def repeating(f, n_threads=2):
    """Calls ``f()`` again and again in other threads; raises what was raised there."""
    stopped = threading.Event()
    errors = []

    def repeat():
        try:
            while not stopped.is_set():
                f()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=repeat) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
