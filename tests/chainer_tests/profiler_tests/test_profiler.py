"""Spans, their sums and the trace file."""

import json
import os
import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import profiler
from chainer.profiler import _spans, _table
from tests.helpers import trace_format
from tests.helpers.devices import CHX

DEVICES = ['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)]


class Clock:
    """Clock that a test sets; each reading takes a microsecond."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1000
        return self.now

    def sleep(self, milliseconds):
        self.now += milliseconds * 10**6


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_spans, 'clock', clock)
    return clock


class Wait(chainer.FunctionNode):
    """Takes 20 ms forward, of which another function takes 5, and 30 ms backward."""

    def __init__(self, clock, inner=True):
        self.clock = clock
        self.inner = inner

    def forward(self, inputs):
        if self.inner:
            Wait(self.clock, False).apply(inputs)
        self.clock.sleep(15 if self.inner else 5)
        return (inputs[0] + 1,)

    def backward(self, indexes, gys):
        self.clock.sleep(30)
        return gys


class Dataset(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 8

    def get_example(self, i):
        np.tanh(np.ones(10**5))
        return np.full(3, i, 'f'), np.int32(i % 2)


def rows_by_name(prof):
    return {(row.category, row.name): row for row in prof.rows}


@pytest.mark.parametrize('device', DEVICES)
def test_sums_of_a_program(clock, tmp_path, device):
    path = tmp_path / 'trace.json'
    x = chainer.Variable(chainer.get_device(device).send(np.ones((2, 3), 'f')))
    with profiler.profile(path) as prof:
        clock.sleep(7)
        (y,) = Wait(clock).apply((x,))
        y = F.sum(y)
        y.backward()
        clock.sleep(9)
    rows = rows_by_name(prof)
    row = rows['forward', 'Wait']
    assert row.calls == 2
    assert row.total == pytest.approx(0.020, rel=0.01)  # that of both, as one is in the other
    assert row.own == pytest.approx(0.020, rel=0.01)
    assert rows['profile', 'outside of spans'].own == pytest.approx(0.016, rel=0.01)
    backward = rows['backward', 'backward pass']
    assert backward.total == pytest.approx(0.030, rel=0.01)
    if device == '@numpy':
        assert rows['backward', 'Wait'].own == pytest.approx(0.030, rel=0.01)
        assert backward.own < 0.001
    # The sum is the wall, exactly.
    assert prof.wall == pytest.approx(0.066, rel=0.05)
    assert sum(row.own for row in prof.rows) == pytest.approx(prof.wall, rel=1e-9)
    events = trace_format.read(path)
    (event,) = [e for e in events if e['name'] == 'Sum' and e.get('cat') == 'forward']
    assert event['args'] == {'arrays': ['float32[2, 3]']}
    first, inner = [e for e in events if e['name'] == 'Wait' and e['cat'] == 'forward']
    assert first['ts'] == pytest.approx(7000, rel=0.01)
    assert first['ts'] < inner['ts'] < inner['ts'] + inner['dur'] < first['ts'] + first['dur']


def test_text(clock):
    with profiler.profile() as prof:
        Wait(clock).apply((np.ones(3, 'f'),))
    head, line, *rows = str(prof).splitlines()
    assert head.split() == [
        'Profile',
        'of',
        '20.0',
        'ms',
        *'Kind Calls Total ms Self ms Self %'.split(),
    ]
    assert set(line) == {'-'}
    assert rows[0].split()[:3] == ['Wait', 'forward', '2']
    assert rows[0].split()[-1] == '100.0%'
    assert rows[1].startswith('outside of spans')
    assert prof._repr_html_().count('<tr>') == 1 + len(prof.rows)
    assert '<td>forward</td><td>2</td>' in prof._repr_html_()
    assert profiler.profile()._repr_html_() is None


def test_real_times_sum_to_the_wall(tmp_path):
    model = L.Classifier(chainer.Sequential(L.Linear(30), F.relu, L.Linear(4)))
    optimizer = chainer.optimizers.Adam().setup(model)
    x, t = np.ones((20, 50), 'f'), np.zeros(20, 'i')
    with profiler.profile(tmp_path / 'trace.json') as prof:
        for _ in range(3):
            optimizer.update(model, x, t)
    assert sum(row.own for row in prof.rows) == pytest.approx(prof.wall, rel=1e-6)
    rows = rows_by_name(prof)
    assert rows['forward', 'LinearFunction'].calls == 6
    assert rows['backward', 'SoftmaxCrossEntropy'].calls == 3
    assert rows['backward', 'backward pass'].calls == 3
    assert rows['optimizer', 'update of parameters'].calls == 3
    trace_format.read(tmp_path / 'trace.json')


@pytest.mark.parametrize('kind', ['serial', 'threads', 'processes'])
def test_iterators(tmp_path, kind):
    iterator = {
        'serial': lambda: chainer.iterators.SerialIterator(Dataset(), 4),
        'threads': lambda: chainer.iterators.MultithreadIterator(Dataset(), 4, n_threads=2),
        'processes': lambda: chainer.iterators.MultiprocessIterator(Dataset(), 4, n_processes=2),
    }[kind]()
    path = tmp_path / 'trace.json'
    with profiler.profile(path) as prof:
        for _ in range(3):
            iterator.next()
    name = f'{type(iterator).__name__}.next'
    assert rows_by_name(prof)['iterator', name].calls == 3
    assert next(iterator)  # workers go on after the profile
    iterator.finalize()
    reads = [e for e in trace_format.read(path) if e['name'] == 'read examples']
    if kind == 'serial':
        assert reads == []
    elif kind == 'threads':
        assert {e['pid'] for e in reads} == {os.getpid()}
        assert 0 not in {e['tid'] for e in reads}
    else:
        assert len({e['pid'] for e in reads} - {os.getpid()}) == 2
        assert sum(e['args']['examples'] for e in reads) >= 12
        # Processes of a host share the clock.
        (root,) = [e for e in trace_format.read(path) if e['name'] == 'profile']
        assert all(0 < e['ts'] < root['dur'] + 5e6 for e in reads)


def test_threads(tmp_path):
    def compute():
        F.relu(np.ones(3, 'f'))
        started.set()
        stop.wait()
        F.relu(np.ones(3, 'f'))

    started, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=compute, name='other')
    with profiler.profile(tmp_path / 'trace.json') as prof:
        F.exp(np.ones(3, 'f'))
        thread.start()
        assert started.wait(10)
    stop.set()
    thread.join()
    assert ('forward', 'ReLU') not in rows_by_name(prof)
    (row,) = prof.rows_of('other')
    assert (row.name, row.calls) == ('ReLU', 1)  # the second one is after the profile
    events = trace_format.read(tmp_path / 'trace.json')
    threads = {e['args']['name']: e['tid'] for e in events if e['name'] == 'thread_name'}
    assert {e['tid'] for e in events if e['name'] == 'ReLU'} == {threads['other']}


@pytest.mark.chainerx
def test_plans_are_not_disturbed(tmp_path):
    model = L.Classifier(chainer.Sequential(L.Linear(5, 3), F.relu, L.Linear(2)))
    model.to_device('native:0')  # the only devices with plans
    optimizer = chainer.optimizers.Adam().setup(model)
    step = chainer.compile(lambda x, t: optimizer.update(model, x, t))
    x, t = model.device.send((np.ones((4, 5), 'f'), np.zeros(4, 'i')))

    def count(n_calls):
        before = step.replays
        for _ in range(n_calls):
            step(x, t)
        return step.replays - before

    count(6)
    recordings = step.recordings
    with profiler.profile() as prof:
        assert count(5) == 5
        assert count(5) == 5
    assert count(5) == 5
    assert step.recordings == recordings
    compiled = [row for row in prof.rows if row.category == 'compiled']
    assert [(row.name.rpartition(' ')[2], row.calls) for row in compiled] == [('(plan)', 10)]


@pytest.mark.chainerx
def test_plans_are_made():
    model = L.Linear(5, 3)
    model.to_device('native:0')  # the only devices with plans
    optimizer = chainer.optimizers.SGD().setup(model)
    step = chainer.compile(lambda x: optimizer.update(lambda: F.sum(model(x))))
    x = model.device.send(np.ones((4, 5), 'f'))
    with profiler.profile() as prof:
        for _ in range(6):
            step(x)
    made = step.recordings
    for _ in range(5):
        step(x)
    assert step.replays >= 7
    assert step.recordings == made  # plans of the time of the profile stay
    calls = {
        row.name.rpartition(' ')[2]: row.calls for row in prof.rows if row.category == 'compiled'
    }
    assert calls['(recording)'] == made
    assert sum(calls.values()) == 6
    assert calls['(plan)'] >= 2
    with profiler.profile() as prof, chainer.function_hooks.TimerHook():
        step(x)  # another hook asks for functions
    assert rows_by_name(prof)['forward', 'LinearFunction'].calls == 1


def test_errors_leave_spans_closed():
    class Broken(chainer.FunctionNode):
        def forward(self, inputs):
            raise OSError('broken')

    prof = profiler.profile()
    with pytest.raises(OSError, match='broken'):
        with prof:
            with pytest.raises(OSError, match='broken'):
                Broken().apply((np.ones(3, 'f'),))
            F.relu(np.ones(3, 'f'))
            Broken().apply((np.ones(3, 'f'),))
    assert rows_by_name(prof)['forward', 'Broken'].calls == 2
    assert sum(row.own for row in prof.rows) == pytest.approx(prof.wall)


def test_nothing_stays_replaced():
    from chainer._core.autograd import thread_hooks
    from chainer._core.engines import plan_data
    from chainer.compilation import _function
    from chainer.iterators import _worker_process

    def look():
        return [
            *[vars(cls).get('__next__') for cls in chainer.dataset.Iterator.__subclasses__()],
            chainer.training.StandardUpdater.update_core,
            chainer.training.extensions.LogReport.__call__,
            chainer.Optimizer.update,
            plan_data.backward,
            _function.has_hooks,
            _function.CompiledFunction.__call__,
            _worker_process.run,
            thread_hooks.initial,
            dict(chainer.get_function_hooks()),
        ]

    before = look()
    with profiler.profile():
        assert look() != before
    assert look() == before


def test_one_at_a_time():
    prof = profiler.profile()
    assert str(prof) == '<profile, new>'
    assert prof.rows == []
    with prof:
        assert str(prof) == '<profile, running>'
        with pytest.raises(RuntimeError, match='a profile runs already'):
            profiler.profile().__enter__()
    with pytest.raises(RuntimeError, match='make another one'), prof:
        pass
    with profiler.profile():
        pass


def test_file_that_cannot_be_written(tmp_path):
    prof = profiler.profile(tmp_path / 'no' / 'trace.json')
    with pytest.raises(FileNotFoundError), prof:
        pass
    assert prof.wall > 0
    with profiler.profile():  # all is put back
        pass


def test_sums_of_spans():
    span = _spans.Span
    spans = [
        span('a', 'x', 0, 0, 100),
        span('a', 'y', 1, 10, 60),
        span('a', 'x', 2, 20, 50),
        span('a', 'y', 1, 60, 60),
        span('b', 'x', 0, 100, 107),
    ]
    assert [
        (*row[:3], round(row.total * 1e9), round(row.own * 1e9)) for row in _table.sum_up(spans)
    ] == [
        ('a', 'x', 2, 100, 80),
        ('a', 'y', 2, 50, 20),
        ('b', 'x', 1, 7, 7),
    ]
    assert _table.sum_up([]) == []


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_forked_processes_record_nothing():
    recorder = _spans.Recorder()
    recorder.start()
    recorder.begin('a', 'b', 'c')
    recorder._after_fork()
    recorder.begin('d', 'b', 'c')
    recorder.end('a')
    assert [span.name for span in recorder.track().spans] == ['c']


@pytest.mark.parametrize(
    'change',
    [
        {'ph': 'Y'},
        {'ts': '0'},
        {'ts': float('nan')},
        {'dur': -1.0},
        {'dur': 1e12},
        {'pid': 99},
        {'tid': 99},
        {'color': 'red'},
    ],
    ids=str,
)
def test_the_rules_of_traces_find_faults(tmp_path, change):
    path = tmp_path / 'trace.json'
    with profiler.profile(path):
        F.exp(np.ones(3, 'f'))
    trace = json.loads(path.read_text())
    assert trace['traceEvents'] == trace_format.read(path)
    trace['traceEvents'][-1].update(change)
    path.write_text(json.dumps(trace))
    with pytest.raises((AssertionError, KeyError)):
        trace_format.read(path)
