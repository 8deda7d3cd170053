"""Arrays and graphs in many threads, and in forked processes."""

import os
import sys
import threading

import numpy as np
import pytest
from helpers.programs import run_python
from helpers.threads import N_THREADS, N_TURNS, in_threads

import chainerx


def equal(actual, desired):
    np.testing.assert_array_equal(chainerx.to_numpy(actual), np.broadcast_to(desired, actual.shape))


# Kernels on the large ones let other threads run in between.
@pytest.mark.parametrize('n', [4, 400])
def test_gradients_of_shared_parameters_accumulate(n):
    w = chainerx.ones((n, n), 'float32').require_grad()
    b = chainerx.zeros(n, 'float32').require_grad()
    x = chainerx.ones((8, n), 'float32')

    def step(i, turn):
        loss = chainerx.relu(chainerx.linear(x, w, b)).sum()
        assert float(loss.as_grad_stopped()) == 8 * n * n
        loss.backward()

    in_threads(step)
    equal(w.grad, 8 * N_THREADS * N_TURNS)
    equal(b.grad, 8 * N_THREADS * N_TURNS)


@pytest.mark.parametrize('n', [2, 200_000])
def test_each_thread_has_a_graph_of_its_own(n):
    x = chainerx.full(n, 3, 'float32')

    def step(i, turn):
        with chainerx.backprop_scope(f'thread {i}') as graph:
            x.require_grad(graph)
            y = (x * x * (turn + 1)).sum()
            assert y.is_backprop_required(graph) and not y.is_backprop_required()
            chainerx.backward(y, graph)
            # The other threads' graphs have recorded it, as x belongs to them too.
            equal(x.get_grad(graph).as_grad_stopped(), 6 * (turn + 1))
            del y
            x.cleargrad(graph)

    in_threads(step)
    assert not x.is_backprop_required(chainerx.anygraph)


@pytest.mark.parametrize('n', [10, 100_000])
def test_threads_differentiate_the_same_graph(n):
    x = chainerx.ones(n).require_grad()
    y = (chainerx.exp(x * 0) * x * x).sum()

    def step(i, turn):
        (gx,) = chainerx.grad([y], [x], enable_double_backprop=i % 2 == 1)
        equal(gx.as_grad_stopped(), 2)
        if i % 2:
            (ggx,) = chainerx.grad([gx.sum()], [x])
            equal(ggx, 2)

    in_threads(step)


@pytest.mark.parametrize('n', [10, 100_000])
def test_one_thread_releases_a_graph(n):
    outputs = []
    for _ in range(N_TURNS):
        y = chainerx.zeros(n, 'float32').require_grad()
        for _ in range(20):
            y = chainerx.sin(y) + y
        outputs.append(y.sum())
    done = [[] for _ in outputs]

    def step(i, turn):
        try:
            outputs[turn].backward()
        except chainerx.GradientError:
            pass
        else:
            done[turn].append(i)

    in_threads(step)
    assert [len(threads) for threads in done] == [1] * N_TURNS


def test_modes_and_devices_belong_to_threads():
    x = chainerx.ones(3).require_grad()

    def step(i, turn):
        device = f'native:{(i + turn) % 4}'
        with chainerx.using_device(device):
            assert chainerx.zeros(2).device.name == device
            if i % 2:
                with chainerx.no_backprop_mode():
                    assert not (x * 2).is_backprop_required()
            else:
                assert (x * 2).is_backprop_required()

    in_threads(step)


def test_other_threads_run_during_kernels():
    x = chainerx.ones((1000, 1000))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread runs until it lets others run

    def during_kernel():
        started, ended = threading.Event(), threading.Event()

        def work():
            started.set()
            x.dot(x)
            ended.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        result = not ended.is_set()
        thread.join()
        return result

    try:
        # On a busy machine, a kernel may end before the other thread gets a processor.
        assert any(during_kernel() for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


def run(code):
    options = ['-W', 'ignore:.*fork:DeprecationWarning']
    run_python(code, options=options, CHAINERX_NUM_THREADS='2')


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
@pytest.mark.parametrize('busy', [False, True], ids=['idle', 'busy'])
def test_fork_after_use(busy):
    run(f"""
        import faulthandler, os, threading
        import chainerx

        w = chainerx.ones((300, 300), 'float32').require_grad()

        def step(n):
            loss = (chainerx.tanh(w * 0).dot(w) + w).sum()
            loss.backward()
            assert float(w.grad.sum()) == 90000 * n, float(w.grad.sum())

        step(1)
        stop = False

        def compute():
            x = chainerx.ones((500, 500), 'float32')
            while not stop:
                chainerx.exp(x).dot(x)

        thread = threading.Thread(target=compute)
        if {busy!r}:
            thread.start()
        for _ in range(5):
            pid = os.fork()
            if pid == 0:
                faulthandler.dump_traceback_later(50, exit=True)  # a child that hangs fails
                try:
                    for n in range(2, 5):
                        step(n)
                    grandchild = os.fork()
                    if grandchild == 0:
                        step(5)
                        os._exit(0)
                    status = os.waitpid(grandchild, 0)[1]
                    assert status == 0, status
                except BaseException:
                    import traceback
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            status = os.waitpid(pid, 0)[1]
            assert status == 0, status
        stop = True
        if thread.ident:
            thread.join()
        step(2)
    """)


@pytest.mark.parametrize('turn', range(3))
def test_exit_while_daemon_threads_compute(turn):
    run("""
        import threading
        import chainerx

        x = chainerx.ones((700, 700))

        def compute():
            while True:
                chainerx.exp(x * 0).dot(x)

        for _ in range(4):
            threading.Thread(target=compute, daemon=True).start()
        x.dot(x)
    """)
