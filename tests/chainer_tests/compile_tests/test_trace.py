"""What recordings hear of the calls that a function makes."""

import collections
import gc
import io
import json
import sys
import textwrap
import warnings

import numpy
import pytest
from helpers.compiled import DEVICE, array

import chainer
import chainer.functions as F
import chainerx
from chainer.compilation._trace import Trace

pytestmark = pytest.mark.chainerx


def double(x):
    return F.relu(x) + len([x])


def backward_of(losses):
    for loss in losses:
        loss.backward()


def run(trace, function, *args):
    trace.start()
    try:
        return function(*args)
    finally:
        trace.stop()


@pytest.fixture
def x():
    return chainerx.ones((2, 3), 'float32')


def test_each_call_tells_the_code_of_the_program(x):
    double(x)  # now, as it imports parts of the package
    trace = Trace()
    for _ in range(2):
        trace.clear()
        assert not trace.codes
        run(trace, double, x)
        assert [*trace.codes.values()] == [double.__code__]
        assert trace.last_builtin is len
        assert trace.graph_break is None


def test_code_of_the_package_is_told_once(x, monkeypatch):
    told = []
    on_framework = Trace._on_framework
    monkeypatch.setattr(
        Trace, '_on_framework',
        lambda self, frame, code: (told.append(code.co_name), on_framework(self, frame, code))[1],
    )  # fmt: skip
    trace = Trace()
    run(trace, double, x)
    assert 'relu' in told
    trace.clear()
    told.clear()
    run(trace, double, x)
    assert not told


def test_backward_is_told_each_time(x):
    trace = Trace()
    for _ in range(2):
        trace.clear()
        leaf = chainer.Parameter(x)
        losses = [F.sum(leaf * i) for i in range(3)]
        run(trace, backward_of, losses)
        assert all(any(loss is v for v in trace.backpropagated) for loss in losses)


def test_warnings_of_the_package(x):
    """They are seen however often the code that warns has run, and whether they are shown."""

    def warn():
        chainer.utils.experimental('it')

    trace = Trace()
    for action in 'ignore', 'always', 'ignore', 'always':
        trace.clear()
        assert not trace.warns
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            run(trace, warn)
        assert trace.warns
        assert len(caught) == (action == 'always')
        reason = trace.graph_break or ''
        assert reason.startswith('a warning (test_trace.py:' if caught else '')


def test_builtins_of_the_program(x):
    def put(x):
        sys.stdout.write('')
        return x

    trace = Trace()
    for _ in range(2):
        trace.clear()
        run(trace, put, x)
        assert trace.graph_break.startswith('a call of write (test_trace.py:')


@pytest.mark.parametrize(
    ('function', 'what'),
    [
        (lambda: json.dumps([1]), 'json.dumps'),
        (lambda: textwrap.fill('a'), 'textwrap.fill'),  # which calls others itself
        (lambda: numpy.savetxt(io.BytesIO(), [1]), 'savetxt'),
        (lambda: numpy.tile([1], 2), None),
        (lambda: collections.Counter('a'), None),
    ],
    ids=['json', 'textwrap', 'savetxt', 'tile', 'Counter'],
)
def test_libraries(function, what):
    """What the program calls there may have effects, but for functions that are known."""
    trace = Trace()
    for _ in range(2):
        trace.clear()
        run(trace, function)
        if what is None:
            assert trace.graph_break is None
        else:
            assert f'{what} (test_trace.py:' in trace.graph_break


def test_garbage_is_not_of_the_program(x):
    class Garbage:
        def __init__(self):
            self.me = self

        def __del__(self):
            sys.stdout.write('')

    def make(x):
        Garbage()
        gc.collect()
        return double(x)

    trace = Trace()
    run(trace, make, x)
    # `collect` is called by the program, what it collects is not.
    assert trace.graph_break.startswith('a call of collect')
    assert Garbage.__del__.__code__ not in trace.codes.values()
    assert double.__code__ in trace.codes.values()


def test_nothing_is_heard_of_other_times(x):
    trace = Trace()
    run(trace, double, x)
    trace.clear()
    double(x)
    assert not trace.codes
    assert sys.getprofile() is None


class Wrong(Exception):
    pass


def listen(on_call, on_builtin, on_warning, x):
    listener = chainerx._core._CallListener()
    listener.start(on_call, on_builtin, on_warning)
    double(x)
    listener.stop()


@pytest.mark.parametrize('answer', [None, 'a', 1 << 70, numpy.ones(2)])
def test_wrong_answers(answer, x):
    """An error of a callback is raised once, and ends the listening."""
    with pytest.raises((TypeError, OverflowError)):
        listen(lambda frame: answer, len, len, x)
    assert sys.getprofile() is None
    double(x)


def test_errors_of_callbacks(x):
    def fail(*args):
        raise Wrong

    for callbacks in (fail, len, len), (lambda frame: 2, fail, len):
        with pytest.raises(Wrong):
            listen(*callbacks, x)
        assert sys.getprofile() is None


@pytest.mark.parametrize('wrong', [None, 1, 'a'])
def test_wrong_callbacks(wrong):
    for i in range(3):
        callbacks = [len, len, len]
        callbacks[i] = wrong
        with pytest.raises(TypeError, match='expected functions, not'):
            chainerx._core._CallListener().start(*callbacks)
        assert sys.getprofile() is None


def test_modes_that_a_function_leaves():
    def step(x):
        is_first = chainerx.get_default_device().name == DEVICE
        chainerx.set_default_device('native:1' if is_first else DEVICE)
        return x * 2

    compiled = chainer.compile(step)
    with chainerx.using_device(DEVICE):
        for i in range(5):
            assert (compiled(array([i], 'f')) == i * 2).all()
    assert 'no plan: the state of the thread changes' in compiled.report()
