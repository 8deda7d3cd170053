"""Values of the program that a plan reads: containers, objects with slots, NumPy's functions."""

import collections
import dataclasses
import sys
import types
from typing import Generic, TypeVar

import numpy as np
import pytest
from helpers.compiled import array, bits

import chainer
import chainer.functions as F
import chainerx

if not chainerx.is_available():  # the argument of all steps is its array
    pytest.skip('ChainerX is not built', allow_module_level=True)

X = array([[1, 2, 3], [4, 5, 6]], 'f')


class Slotted:
    __slots__ = ('k', 'more')

    def __init__(self):
        self.k, self.more = 2.0, [3.0]


class WithDict(Slotted):
    pass


class Hidden(Slotted):
    k = 5.0


@dataclasses.dataclass(**({'slots': True} if sys.version_info >= (3, 10) else {}))
class Data:
    k: float = 2.0


class Typed(Generic[TypeVar('T')]):
    def __init__(self):
        self.k = 2.0


Pair = collections.namedtuple('Pair', 'k other')  # noqa: PYI024 - programs have these


def set_k(value):
    value.k = 7.0


def with_default():
    values = collections.defaultdict(lambda: 1.0)
    values['k'] = 2.0
    return values


#: What a step reads: how it is made, read, and changed between two calls.
VALUES = {
    'namespace': (lambda: types.SimpleNamespace(k=2.0), lambda v: v.k, set_k),
    'namespace of a list': (
        lambda: types.SimpleNamespace(k=[2.0]), lambda v: v.k[0], lambda v: v.k.append(v.k.pop() + 1)
    ),
    'slots': (Slotted, lambda v: v.k, set_k),
    'slots with a list': (Slotted, lambda v: v.more[-1], lambda v: v.more.append(4.0)),
    'slots by name': (Slotted, lambda v: getattr(v, ''.join('k')), set_k),
    'slots and a dict': (WithDict, lambda v: v.k, set_k),
    'a dict beside slots': (WithDict, lambda v: vars(v).get('a', 1.0), lambda v: setattr(v, 'a', 3.0)),
    'generic class': (Typed, lambda v: v.k, set_k),
    'data class': (Data, lambda v: v.k, set_k),
    'ordered': (
        lambda: collections.OrderedDict(a=2.0, b=3.0), lambda v: v['a'], lambda v: v.update(a=4.0)
    ),
    'order': (
        lambda: collections.OrderedDict(a=2.0, b=3.0), lambda v: next(iter(v.values())),
        lambda v: v.move_to_end('a'),
    ),
    'default': (with_default, lambda v: v['k'], lambda v: v.update(k=3.0)),
    'default factory': (
        with_default, lambda v: v.default_factory(), lambda v: setattr(v, 'default_factory', float)
    ),
    'deque': (lambda: collections.deque([2.0, 3.0]), lambda v: v[0], lambda v: v.rotate()),
    'length of a deque': (lambda: collections.deque([2.0]), len, lambda v: v.append(1.0)),
}  # fmt: skip


@pytest.mark.parametrize('name', VALUES)
def test_change(name):
    make, read, change = VALUES[name]
    value = make()

    @chainer.compile
    def step(x):
        return F.sum(x * read(value))

    def expected():
        return bits(F.sum(chainer.Variable(X) * read(value)))

    for _ in range(5):
        assert bits(step(X)) == expected()
    assert step.replays >= 2, step.report()
    for _ in range(3):
        change(value)
        assert bits(step(X)) == expected()


def test_named_tuples():
    pair = Pair(2.0, [3.0])
    step = chainer.compile(lambda x: x * pair.k + pair.other[0])
    for k in range(8):
        assert bits(step(X)) == bits(X * 2.0 + pair.other[0])
        if k == 4:
            assert step.replays >= 2, step.report()
            pair.other[0] = 5.0
    pair = Pair(4.0, [1.0])
    assert bits(step(X)) == bits(X * 4.0 + 1.0)


@pytest.mark.parametrize(
    'value', [Hidden, lambda: Slotted.__new__(Slotted)], ids=['hidden', 'empty']
)
def test_slots_that_cannot_be_watched(value):
    value = Slotted.__new__(value) if isinstance(value, type) else value()
    step = chainer.compile(lambda x: x * (1.0 if value is None else 2.0))
    for _ in range(4):
        step(X)
    assert step.replays == 0
    assert 'the slot k of value is empty or hidden' in step.report()


@pytest.mark.parametrize(
    'value', [collections.deque([0]), collections.OrderedDict(a=0), collections.defaultdict(int)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_a_call_changes_is_a_graph_break(value):
    def count(x):
        if isinstance(value, collections.deque):
            value.append(len(value))
        else:
            value['a'] += 1
        return x * 2

    step = chainer.compile(count)
    for n in range(6):
        step(X)
        assert (len(value) - 1 if isinstance(value, collections.deque) else value['a']) == n + 1
    assert step.replays == 0


#: Results of NumPy that are constants of a plan.
NUMPY = {
    'ufunc of a number': lambda x: x / np.sqrt(6 // 2),
    'ufunc of a shape': lambda x: x / np.sqrt(x.shape[-1]),
    'log': lambda x: x * np.log(2.0),
    'mask': lambda x: x * chainerx.array(np.tril(np.ones((2, 3), 'f'))),
    'mask by a comparison': lambda x: x * chainerx.array(
        (np.arange(3)[None] <= np.arange(2)[:, None]).astype('f')
    ),
    'reduction of a ufunc': lambda x: x * float(np.add.reduce(np.ones(3))),
    'method': lambda x: x * float(np.linspace(0, 1, 5).mean()),
    'joined': lambda x: x + chainerx.array(np.concatenate([np.zeros(1, 'f'), np.ones(2, 'f')])),
    'positions': lambda x: x + chainerx.array(
        np.sin(np.outer(np.arange(2), 1 / np.power(100.0, np.arange(3) / 3))).astype('f')
    ),
}  # fmt: skip


@pytest.mark.parametrize('name', NUMPY)
def test_numpy(name):
    step = chainer.compile(NUMPY[name])
    for _ in range(5):
        assert bits(step(X)) == bits(NUMPY[name](X))
    assert step.replays >= 2, step.report()


def test_data_that_a_ufunc_reads():
    scale = np.array([1.0, 4.0, 9.0])
    step = chainer.compile(lambda x: x * chainerx.array(np.sqrt(scale).astype('f')))
    for k in range(8):
        assert bits(step(X)) == bits(X * chainerx.array(np.sqrt(scale).astype('f')))
        if k == 4:
            assert step.replays >= 2, step.report()
            scale[1] = 16.0


def test_output_of_a_ufunc():
    """What a ufunc writes into an array of the program happens at each call."""
    counts = np.zeros(1)

    def step(x):
        np.add(counts, 1, out=counts)
        return x * 2

    compiled = chainer.compile(step)
    for n in range(6):
        compiled(X)
        assert counts[0] == n + 1


def test_ufunc_of_the_program():
    calls = []
    ufunc = np.frompyfunc(lambda a: calls.append(a) or a, 1, 1)
    step = chainer.compile(lambda x: x * float(ufunc(2.0)))
    for n in range(6):
        step(X)
        assert len(calls) == n + 1


def test_random_numbers():
    step = chainer.compile(lambda x: x * float(np.random.uniform(1, 2)))
    results = {bits(step(X)) for _ in range(6)}
    assert len(results) == 6 and step.replays == 0
