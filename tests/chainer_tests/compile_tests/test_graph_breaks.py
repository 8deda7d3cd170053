"""What no plan can repeat falls back to eager, with the reason and the line."""

import collections
import functools
import gc
import random
import re
import sys
import time
import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, array

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

pytestmark = pytest.mark.chainerx

COUNTS = collections.Counter()
LIST: list = []
NUMBERS = np.ones(3, 'f')
LARGE = np.ones((9000, 3), 'f')
OBJECTS = np.array([1, None])
GLOBAL = 1


class Counter:
    def __init__(self):
        self.count = 0
        self.rng = np.random.RandomState(0)
        self.items = {}
        self.x = None


COUNTER = Counter()


def reads_a_value(x):
    if float(F.sum(x).array) > 3:  # here
        return x * 2
    return x


def reads_an_item(x):
    return x * x[0].item()  # here


def compares(x):
    return x if (x > 0).all() else x * 2  # here


def prints(x):
    print('text')  # here
    return x * 2


def takes_the_time(x):
    return x * time.time()  # here


def draws_with_numpy(x):
    return x * np.random.rand()  # here


def draws_with_python(x):
    return x * random.random()  # here


def draws_with_an_object(x):
    return x * COUNTER.rng.rand()


def counts(x):
    COUNTER.count += 1  # here
    return x * 2


def counts_in_a_counter(x):
    COUNTS['calls'] += 1  # here
    return x * 2


def appends(x):
    LIST.append(1)  # here
    return x * 2


def keeps_results(x):
    COUNTER.items[len(COUNTER.items)] = F.relu(x)
    return x * 2


def sets_a_global(x):
    global GLOBAL
    GLOBAL += 1  # here
    return x * 2


def changes_data(x):
    NUMBERS[0] += 1
    return x + chainerx.array(NUMBERS)


def changes_data_of_its_own(x):
    data = chainerx.array([1.0, 2.0, 3.0])
    data += x.astype('float64')
    return data * 2


def returns_data(x):
    return chainerx.array([1, 2]), x * 2


def reads_much_of_numpy(x):
    return x + chainerx.array(LARGE)  # here


def reads_objects_of_numpy(x):
    return x + OBJECTS[0]  # here


def reads_every_other_number(x):
    return x + chainerx.array(NUMBERS[::2], copy=False)[:1]  # here


def reads_a_dataset(x):
    return x * float(chainer.datasets.get_digits()[0][0][0][0])  # here


def converts_to_numpy(x):
    return x * chainerx.to_numpy(x)[0]  # here


def sees_the_memory(x):
    return x * (x.data_ptr % 3)  # here


def imports(x):
    import math  # here

    return x * math.pi


def warns(x):
    warnings.warn('text', stacklevel=1)  # here
    return x * 2


def seeds(x):
    chainerx.random.seed(3)  # here
    return x * 2


def reads_a_file(x):
    with open(__file__) as file:  # here
        return x * len(file.read())


def looks_at_identities(x):
    return x * (id(x) % 3)  # here


def evaluates(x):
    return x * eval('GLOBAL')  # here


@functools.lru_cache
def _cached(n):
    return n


def uses_a_cache(x):
    return x * _cached(2)  # here


def falls_back(x):
    return F.permutate(x, array([2, 0, 1], 'i'))


def leaves_a_graph(x):
    w = chainer.Variable(chainerx.ones(3, 'float32', device=DEVICE))
    return F.sum(chainer.Variable(x) * w)


def moves(x):
    return x.to_device('native:1').to_device(DEVICE) * 2  # here


def changes_the_configuration(x):
    chainer.config.my_entry = getattr(chainer.config, 'my_entry', 0) + 1
    return x * 2


FUNCTIONS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, '__module__', '') == __name__
    and not isinstance(value, type)
    and not name.startswith('_')
]


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('function', FUNCTIONS, ids=lambda f: f.__name__)
def test_no_plan(function, capsys):
    compiled = chainer.compile(function)
    for i in range(4):
        function(array([1, 2, 3 + i], 'f'))  # so that lists and counts change, too
        compiled(array([1, 2, 3 + i], 'f'))
    report = compiled.report()
    assert '4 calls: 0 ran a plan, 0 made one, 4 ran eagerly' in report
    reason = report.splitlines()[1]
    assert reason.startswith('no plan: ')
    lines, first = __import__('inspect').getsourcelines(function)
    marked = [first + i for i, line in enumerate(lines) if line.rstrip().endswith('# here')]
    for line in marked:
        assert f'test_graph_breaks.py:{line}' in reason or function.__name__ == 'appends'
    capsys.readouterr()
    chainer.config.__dict__.pop('my_entry', None)


def test_changed_arguments():
    def appends(xs):
        xs.append(xs[0] * 2)
        return xs[0] + 1

    def renames(x):
        x.name = 'renamed'
        return x.array + 1

    for function, make in (
        (appends, lambda: [array([1], 'f')]),
        (renames, lambda: chainer.Variable(array([1], 'f'), requires_grad=False)),
    ):
        compiled = chainer.compile(function)
        for _ in range(4):
            compiled(x := make())
            assert len(x) == 2 if function is appends else x.name == 'renamed'
        assert 'no plan: an argument is changed' in compiled.report()


def test_replaced_methods(monkeypatch):
    model = L.Linear(3, 2)
    model.to_device(DEVICE)
    function = chainer.compile(lambda x: model(x).array)
    x = array([[1, 2, 3]], 'f')
    with chainer.no_backprop_mode():
        for _ in range(4):
            y = function(x)
        assert function.replays
        monkeypatch.setattr(L.Linear, 'forward', lambda self, x: chainer.Variable(x * 0))
        assert float(function(x).sum()) == 0 != float(y.sum())
        monkeypatch.undo()
        monkeypatch.setattr(F, 'linear', None)
        assert (function(x) == y).all()


def test_gradients_that_a_hook_replaces():
    model = L.Linear(3, 2)
    model.to_device(DEVICE)
    optimizer = chainer.optimizers.SGD().setup(model)

    def replace(optimizer):
        model.W.grad = model.W.grad * 2

    optimizer.add_hook(replace, 'replace')

    @chainer.compile
    def step(x):
        model.cleargrads()
        F.sum(model(x)).backward()
        optimizer.update()
        return model.W.grad

    for i in range(6):
        grad = step(array([[1, 2, i]], 'f'))
        assert chainerx.to_numpy(grad).tolist() == [[2, 4, 2 * i]] * 2


@pytest.mark.parametrize('when', ['before', 'after'])
def test_a_changed_optimizer(when):
    model = L.Linear(3, 2, initialW=1)
    model.to_device(DEVICE)
    optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)

    @chainer.compile
    def step(x):
        if when == 'before':
            optimizer.new_epoch()
        model.cleargrads()
        F.sum(model(x)).backward()
        optimizer.update()
        if when == 'after':
            optimizer.new_epoch()

    for _ in range(6):
        step(array([[1, 1, 1]], 'f'))
    assert optimizer.epoch == 6
    assert step.replays == 0
    assert 'optimizer' in step.report()


def test_hooks_run():
    model = L.Linear(3, 2)
    model.to_device(DEVICE)
    function = chainer.compile(lambda x: model(x).array)
    with chainer.no_backprop_mode():
        for _ in range(4):
            function(array([[1, 2, 3]], 'f'))
        assert function.replays == 2
        with chainer.function_hooks.TimerHook() as hook:
            function(array([[1, 2, 3]], 'f'))
        assert function.replays == 2 and hook.call_history
        assert 'hooks of functions or links are active' in function.report()
        function(array([[1, 2, 3]], 'f'))
        assert function.replays == 3


class Litter:
    """Garbage for the collector, which warns when it goes."""

    def __init__(self):
        self.me = self

    def __del__(self):
        self.close()

    def close(self):
        COUNTS['closed'] += 1
        warnings.warn('left open', ResourceWarning, stacklevel=1)


def starts_the_collector(x):
    objects = [[] for _ in range(40000)]
    return x * len(objects)


def watches_the_collector(phase, info):
    COUNTS['collections'] += abs(1)


def test_finalizers_of_garbage_end_no_plan(monkeypatch, request):
    monkeypatch.setattr(warnings, 'showwarning', lambda *args: None)
    monkeypatch.setattr(warnings, 'filters', [])
    function = chainer.compile(starts_the_collector)
    thresholds, before = gc.get_threshold(), COUNTS.copy()
    gc.callbacks.append(watches_the_collector)
    request.addfinalizer(lambda: gc.callbacks.remove(watches_the_collector))
    for _ in range(3):
        gc.collect()
        gc.set_threshold(20000)
        Litter()
        try:
            function(array([1, -1], 'f'))
        finally:
            gc.set_threshold(*thresholds)
            gc.collect()
    assert COUNTS['closed'] == before['closed'] + 3
    assert COUNTS['collections'] > before['collections']
    assert function.replays == 1, function.report()


def test_a_profiler_goes_on():
    function = chainer.compile(lambda x: x * 2)
    events = []

    def note(frame, event, arg):
        events.append(event)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for _ in range(3):
            function(array([1, 2], 'f'))
        count = len(events)
        function(array([1, 2], 'f'))
        assert len(events) > count
    finally:
        sys.setprofile(before)
    assert function.recordings == 0
    assert 'a profiler is active' in function.report()


def test_recursion():
    @chainer.compile
    def factorial(x, n):
        return x if n == 0 else factorial(x, n - 1) * n

    for _ in range(6):
        assert float(factorial(array([1], 'f'), 4)[0]) == 24


def test_compiled_functions_call_each_other():
    inner = chainer.compile(lambda x: x * 2)
    outer = chainer.compile(lambda x: inner(x) + 1)
    for i in range(8):
        assert float(outer(array([i], 'f'))[0]) == 2 * i + 1


def test_other_threads():
    import threading

    function = chainer.compile(lambda x: x * 2 + 1)
    results = []

    def run():
        for i in range(50):
            results.append(float(function(array([i], 'f'))[0]) == 2 * i + 1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200 and all(results)


def test_numpy_arguments():
    function = chainer.compile(lambda x: F.relu(x).array)
    for i in range(4):
        np.testing.assert_array_equal(function(np.array([-1, i], 'f')), [0, i])
    assert 'an array shares memory of the program (test_graph_breaks.py:' in function.report()


def test_methods():
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__(l=L.Linear(3, 2))

        @chainer.compile
        def forward(self, x, factor=2.0):
            return self.l(x) * factor

    a, b = Model(), Model()
    for model in a, b:
        model.to_device(DEVICE)
    x = array([[1, 2, 3]], 'f')
    with chainer.no_backprop_mode():
        for _ in range(5):
            for model in a, b:
                for factor in 1.0, 2.0:
                    y = model(x, factor=factor)
                    expected = F.linear(x, model.l.W, model.l.b) * factor
                    assert (y.array == expected.array).all()
    assert Model.forward.replays >= 10


def test_wrong_arguments():
    with pytest.raises(TypeError, match='function must be callable, not'):
        chainer.compile(3)
    with pytest.raises(ValueError, match='max_plans must be positive, not 0'):
        chainer.compile(lambda: None, max_plans=0)


def test_measured_times():
    @chainer.compile(measure=True)
    def function(x):
        return F.relu(x * 2 + 1).array

    for _ in range(5):
        function(array([1, 2], 'f'))
    kernels = function.summary().split('kernels: ')[1]
    assert re.fullmatch(r'(\w+ [\d.]+ us \(\d+%\)(, |$)){3}', kernels), kernels


def test_counts_of_reasons():
    """The report counts each reason, the most frequent first."""

    def function(x, kind):
        if kind == 1:
            return x * float(x[0])  # here
        return x * 2

    compiled = chainer.compile(function)
    for i in range(7):
        compiled(array([i], 'f'), 0)
        compiled._budget.wait = compiled._budget.sleep = 0
        if i < 3:
            compiled(array([i], 'f'), 1)
            compiled._budget.wait = compiled._budget.sleep = 0
        if i < 1:
            compiled([np.ones(3, 'f')], 0)
            compiled._budget.wait = compiled._budget.sleep = 0
        if i < 2:
            with chainer.function_hooks.TimerHook():
                compiled(array([i], 'f'), 0)
    lines = compiled.report().splitlines()
    assert lines[0] == '13 calls: 5 ran a plan, 1 made one, 7 ran eagerly'
    line = function.__code__.co_firstlineno + 2
    assert lines[1:] == [
        f'no plan: the value of an array is read (test_graph_breaks.py:{line}) (3 times)',
        'no plan: hooks of functions or links are active (2 times)',
        'no plan: an array of NumPy is in a container, or given twice',
    ]


def test_variables_that_need_gradients():
    """A plan takes variables without gradients only, and gives such."""
    compiled = chainer.compile(lambda x: F.relu(x) * 2)
    reason = 'an argument is a variable that needs a gradient or is not of ChainerX'

    def check(make, is_planned):
        replays = compiled.replays
        with chainer.using_config('enable_backprop', not is_planned):
            for _ in range(4):
                x = make()
                y = compiled(x)
        assert (compiled.replays > replays) is is_planned
        assert (reason in compiled.report()) is not is_planned
        assert (float(y[0].array), y.requires_grad) == (2, not is_planned)
        if x.requires_grad:
            F.sum(y).backward()
            assert float(x.grad[0]) == 2
        compiled.clear()
        compiled._reasons._counts.clear()

    values = array([1, -1], 'f')
    check(lambda: chainer.Variable(values, requires_grad=False), True)
    check(lambda: chainer.Variable(values), False)
    check(lambda: chainer.Variable(np.array([1, -1], 'f')), False)
    y = chainer.compile(lambda x: F.relu(x))
    for _ in range(4):
        result = y(chainer.Variable(values, requires_grad=False))
        assert type(result) is chainer.Variable and result.requires_grad is False
    assert y.replays == 2


def test_arguments_in_a_layout():
    def refuse(x):
        return x.layout, F.relu(x)

    from chainer import memory_layouts

    compiled = chainer.compile(refuse)
    values = array(np.ones((1, 2, 2, 2)), 'f')
    layout = memory_layouts.CUDNN_CHANNEL_LAST_X
    for _ in range(4):
        x = chainer.Variable(values, requires_grad=False)
        x._layout = layout
        assert compiled(chainer.Variable(values, requires_grad=False))[0] is None
        try:
            found = compiled(x)[0]
        except RuntimeError:  # which has no function for it
            found = layout
        assert found is layout
    assert 'an argument is a variable that needs a gradient or is' in compiled.report()


def test_report_and_summary():
    @chainer.compile(max_plans=2)
    def function(x):
        """Documentation."""
        return F.relu(x * 2 + 1).array

    assert function.__doc__ == 'Documentation.' and function.__name__ == 'function'
    assert function.report() == '0 calls: 0 ran a plan, 0 made one, 0 ran eagerly'
    for _ in range(5):
        function(array([1, 2], 'f'))
    assert function.report() == '5 calls: 3 ran a plan, 1 made one, 1 ran eagerly'
    assert function.summary() == (
        '3 kernels in 1 parts, ran 3 times\n'
        'memory: 0 bytes, 0 without sharing\n'
        'kernels: multiply, add, relu'
    )
    function.clear()
    assert function.summary() == ''
    assert not function._plans.in_order
