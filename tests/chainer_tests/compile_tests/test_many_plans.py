"""Functions whose calls differ in many ways: each has its plan, or falls back to eager soon."""

import warnings

import numpy as np
import pytest
from helpers.compiled import Pair, array, bits

import chainer
import chainer.functions as F
import chainerx
from chainer.compilation import _budget, _plans
from chainer.warnings import PerformanceWarning
from tests.chainer_tests.compile_tests.test_training import MLP, Training

pytestmark = pytest.mark.chainerx


def test_many_shapes():
    """After some epochs every batch size has a plan, which a lookup finds."""
    pair = Pair(lambda: Training(MLP(), chainer.optimizers.Adam()))
    rng = np.random.RandomState(0)
    batches = [(array(rng.rand(n, 4), 'f'), array(rng.randint(0, 3, n), 'i')) for n in range(2, 22)]
    for _ in range(6):
        for batch in batches:
            pair.run(*batch)
    assert pair.function.recordings == len(batches)
    assert all([pair.run(*batch) for batch in batches])
    assert len(pair.function._plans.in_order) == len(batches)
    assert pair.function.summary().count('kernels in') == len(batches)


def test_dtypes_strides_and_forms():
    compiled = chainer.compile(lambda xs, n=1, **options: F.sum(F.concat(list(xs), 0) * n).array)
    a, b = array(np.ones((2, 4)), 'f'), array(np.ones((2, 4)), 'd')
    calls = [
        (([a, a.copy()],), {}), (((a, a.copy()),), {}), (([a, a.copy()], 1.0), {}),
        (([a, a.copy()],), {'n': 2}), (([b, b.copy()],), {}), (([a.T.copy().T, a],), {}),
        (([a, a.copy()],), {'more': slice(1)}), (([a, a.copy()],), {'more': slice(1.0)}),
    ]  # fmt: skip
    for _ in range(4):
        for args, kwargs in calls:
            for _ in range(3):
                assert bits(compiled(*args, **kwargs)) == bits(
                    compiled._compiled_function(*args, **kwargs)
                )
    assert compiled.recordings == len(calls)
    assert len(compiled._plans.in_order) == len(calls)


def test_too_many_shapes():
    """Recordings that cost more than their plans gain end, with one warning and a reason."""
    xs = [array(np.ones(n), 'f') for n in range(1, 13)]
    compiled = chainer.compile(lambda x: x * 2, max_plans=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        for _ in range(400):
            for x in xs:
                assert bits(compiled(x)) == bits(x * 2)
    assert [w.category for w in caught] == [PerformanceWarning]
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert 'test_too_many_shapes' in text and 'larger max_plans than 4' in text
    assert 'as the shapes of arguments ((2,), (3,), (4,), ...) changed at' in text
    assert text.split(': ', 2)[-1] in compiled.report()
    free = 4 + _budget.MORE_RECORDINGS
    price = _budget.COST_OF_RECORDING * _budget.SHARE_FOR_MORE
    assert compiled.replays > 3 * price  # which pays for some more
    assert free + 2 < compiled.recordings <= free + compiled.replays / price + 2
    # Those that have a plan keep it, and a clear start allows recordings again.
    replays = compiled.replays
    for x in xs:
        compiled(x)
    assert compiled.replays == replays + 4
    recordings = compiled.recordings
    compiled.clear()
    for _ in range(3):
        compiled(xs[0])
    assert compiled.recordings == recordings + 1
    assert len(compiled._plans.in_order) == 1 and len(compiled._plans.by_key) == 1


def test_search_ends_where_it_finds_nothing(monkeypatch):
    """Calls that have given up do not pay for a search; from time to time one looks again."""
    searches = []
    find = _plans.Plans.find
    monkeypatch.setattr(
        _plans.Plans, 'find', lambda self, *args: searches.append(args) or find(self, *args)
    )
    compiled = chainer.compile(lambda x: x * 2, max_plans=2)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', PerformanceWarning)
        for n in range(1, 400):
            compiled(array(np.ones(n), 'f'))
    recordings, calls, x = compiled.recordings, compiled.calls, array(np.ones(1000), 'f')
    searches.clear()
    for _ in range(10_000):
        assert bits(compiled(x)) == bits(x * 2)
    assert compiled.recordings == recordings and compiled.calls == calls + 10_000
    assert 0 < len(searches) < 1_000
    # A plan that is still kept serves its calls again as soon as one looks.
    kept = array(np.ones(compiled._plans.in_order[0].key[1][0][0]), 'f')
    replays = compiled.replays
    for _ in range(6_000):
        assert bits(compiled(kept)) == bits(kept * 2)
    assert compiled.replays > replays + 1_900


def test_guards_that_change():
    """Plans of the same arguments are told apart by their guards."""
    values = [1.0]
    compiled = chainer.compile(lambda x: x * values[0])
    x = array([1, 2], 'f')
    for i in range(40):
        values[0] = float(i % 3)
        assert bits(compiled(x)) == bits(x * values[0])
    assert compiled.recordings == 3
    assert len(compiled._plans.by_key) == 1


def test_plans_that_ran_last_stay():
    a, b, c = [array(np.ones(n), 'f') for n in (1, 2, 3)]
    compiled = chainer.compile(lambda x: x * 2, max_plans=2)
    for x in a, a, b, a, c:
        compiled(x)
    assert (compiled.recordings, compiled.replays) == (3, 1)
    for x in c, a:
        compiled(x)
    assert (compiled.recordings, compiled.replays) == (3, 3)


@pytest.mark.parametrize('is_argument', [True, False])
def test_what_changes_at_every_call(is_argument):
    """Recordings pause, for longer and longer, and the report names what changes."""
    numbers = [0]
    compiled = chainer.compile(lambda x, n: x * (n + numbers[0]))
    x = array([1, 2], 'f')
    for i in range(300):
        n, numbers[0] = (i, 0) if is_argument else (0, i)
        assert bits(compiled(x, n)) == bits(x * i)
    assert 5 <= compiled.recordings < 20
    what = 'an argument' if is_argument else 'numbers'
    assert f'{what} changes at every call' in compiled.report()


def test_memory_of_plans(monkeypatch):
    """Few plans are kept if each takes much memory itself."""
    monkeypatch.setattr(_plans, 'MAX_BYTES', 1000)
    model = MLP()
    training = Training(model, chainer.optimizers.SGD())
    compiled = chainer.compile(training.step)
    for n in range(2, 14):
        for _ in range(3):
            compiled(array(np.ones((n, 4)), 'f'), array(np.zeros(n), 'i'))
    assert compiled.recordings == 12
    assert len(compiled._plans.in_order) == _plans.FEW_PLANS
    assert len(compiled._plans.by_key) == _plans.FEW_PLANS


def test_states_of_the_thread():
    """Plans of the same arguments are told apart by whether ChainerX records graphs."""
    compiled = chainer.compile(lambda x: x * (2 if chainerx.is_backprop_required() else 3))
    xs = [array(np.ones(n), 'f') for n in (2, 3)]
    for _ in range(6):
        for x in xs:
            assert bits(compiled(x)) == bits(x * 2)
        with chainerx.no_backprop_mode():
            for x in xs:
                assert bits(compiled(x)) == bits(x * 3)
    assert compiled.recordings == 4 and compiled.replays >= 12


def test_many_forms_are_recorded_when_they_come_again():
    function = chainer.compile(lambda x: F.relu(x * 2))
    for n in range(1, _budget.FORMS_AT_ONCE + 10):
        function(array(np.ones(n, 'f')))
    assert function.recordings == _budget.FORMS_AT_ONCE
    assert 'arguments are new in shape or value (8 times)' in function.report()
    x = array(np.ones(1000, 'f'))
    for recordings, replays in [(0, 0), (1, 0), (1, 1)]:
        function(x)
        assert function.recordings == _budget.FORMS_AT_ONCE + recordings
        assert function.replays == replays


def test_forms_that_never_come_again():
    function = chainer.compile(lambda x: F.relu(x * 2))
    x = array(np.ones(6000, 'f'))
    with pytest.warns(PerformanceWarning, match='the shapes of arguments'):
        for n in range(1, 5000):
            function(x[:n])
    assert function.recordings == _budget.FORMS_AT_ONCE
