"""Calls of a function in many threads at the same time."""

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
