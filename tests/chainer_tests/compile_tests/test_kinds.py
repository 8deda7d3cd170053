"""The table of kinds has an entry for all that Python lets one read of an object."""

import collections
import dis
import enum
import functools
import types

import numpy as np
import pytest
from helpers.compiled import DEVICE, array

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import initializers, optimizers
from chainer.compilation import _code, _trees
from chainer.compilation._kinds import functions, objects, table
from chainer.compilation._scope import Scope
from chainer.compilation._trace import GraphBreak, is_framework_module

if not chainerx.is_available():  # some samples are its objects
    pytest.skip('ChainerX is not built', allow_module_level=True)

MEMBERS = types.GetSetDescriptorType, types.MemberDescriptorType
#: Watched, or no part of the object, for all kinds.
EVERYWHERE = {'__dict__', '__weakref__', '__class__'}


class Meta(type):
    pass


class Own(metaclass=Meta):
    pass


class Rate(float):
    pass


class Indirect:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Mode(enum.IntEnum):
    A = 1


class Text(str):
    pass


class Slotted:
    __slots__ = ('a',)

    def __init__(self):
        self.a = 1


class Both(Slotted):
    pass


Point = collections.namedtuple('Point', 'x')  # noqa: PYI024 - programs have these


def function(a, b=1):
    return lambda: a


def _link():
    link = L.Linear(3, 2).to_device(DEVICE)
    return link, optimizers.Adam().setup(link)


LINK, OPTIMIZER = _link()
SAMPLES = [
    function, Own().__init__, len, 'a'.upper, [].append, 'a'.__add__, str.upper, object.__init__,
    vars(dict)['fromkeys'], vars(types.FunctionType)['__code__'],
    vars(types.FunctionType)['__globals__'], np.sum, functools.partial(function, 1),
    staticmethod(function), classmethod(function), property(function), Own, Meta, float, [1], {1: 2},
    {1}, (1,), frozenset((1,)), slice(1), Own(), Rate(1), Mode.A, Text('a'), F, chainer, LINK,
    chainer.Sequential(F.relu), LINK.W, chainer.Variable(array([1.0])), OPTIMIZER,
    LINK.W.update_rule, OPTIMIZER.hyperparam, LINK.device, initializers.Constant(1), np.ones(2),
    array([1.0]), chainer.config, chainer.global_config, chainer.mixed16, np.sqrt, Slotted(), Both(),
    Point(1), vars(Point)['x'], types.SimpleNamespace(a=1), collections.OrderedDict(a=1),
    collections.defaultdict(int, a=1), collections.deque([1]), np.random.rand,
]  # fmt: skip
CONSTANTS = [
    None, True, 1, 1.0, 1j, 'a', b'a', ..., NotImplemented, range(3), np.dtype('f'),
    np.dtype('U3'),
    # A set has no order that all workers of a test run share.
    *[kind(1) for kind in sorted(_trees.CONSTANTS, key=str) if issubclass(kind, np.number) and kind is not np.timedelta64],
    chainerx.get_device(DEVICE), chainerx.get_device(DEVICE).backend,
]  # fmt: skip


def _name_of(value):
    return f'{type(value).__name__}-{getattr(value, "__name__", "")}'


@pytest.mark.parametrize('sample', SAMPLES, ids=_name_of)
def test_all_members_have_an_entry(sample):
    kind = table.find_kind(type(sample))
    assert kind is not None
    entries = kind.watched | kind.fixed | kind.named | kind.ended | EVERYWHERE
    if kind is objects.SLOTTED:
        entries |= {'a'}  # its watch goes over all slots
    for cls in type(sample).__mro__:
        for name, member in vars(cls).items():
            assert not isinstance(member, MEMBERS) or name in entries, (cls, name)
    if kind is table.BASES[chainer.Variable]:
        known = objects.INNER_ATTRIBUTES | {*objects.OF_PARAMETERS}
        assert vars(sample).keys() <= known


@pytest.mark.parametrize('sample', SAMPLES, ids=_name_of)
def test_samples_can_be_watched(sample):
    scope = Scope([sample], {}, {}, {})
    assert scope.watch.find_change() == -1
    assert id(sample) in scope.known


@pytest.mark.parametrize('sample', [s for s in SAMPLES if hasattr(s, '__dict__')], ids=_name_of)
def test_new_attributes_are_noticed(sample):
    """No object takes an attribute without a change of the watch, nor loses it."""
    scope = Scope([sample], {}, {}, {})
    if type(sample) is types.ModuleType:  # of which it watches what code names
        return
    try:
        sample.new_attribute = [1]
    except (AttributeError, TypeError):  # it takes none
        return
    assert scope.watch.find_change() >= 0
    try:
        scope = Scope([sample], {0: compile('x.new_attribute', '', 'eval')}, {}, {})
        vars(sample)['new_attribute'].append(2)
        assert scope.watch.find_change() >= 0
        scope = Scope([sample], {0: compile('x.new_attribute', '', 'eval')}, {}, {})
        sample.new_attribute = [1, 2]
        assert scope.watch.find_change() >= 0
    finally:
        scope = Scope([sample], {}, {}, {})
        del sample.new_attribute
    assert scope.watch.find_change() >= 0


@pytest.mark.parametrize('sample', SAMPLES, ids=_name_of)
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_members_that_can_be_set(sample):
    """A member that takes another value is watched, or code that names it ends the plan."""
    kind = table.find_kind(type(sample))
    others = {
        '__code__': (lambda a, b=1: lambda: a).__code__, '__defaults__': (2,),
        '__kwdefaults__': {'b': 2}, '__annotations__': {'a': 1}, '__type_params__': (),
        '__bases__': (type('Base', (Own.__base__,), {}),),
    }  # fmt: skip
    for cls in type(sample).__mro__:
        for name, member in vars(cls).items():
            if name in EVERYWHERE or not isinstance(member, MEMBERS):
                continue
            codes = {0: compile(f'x.{name}', '', 'eval')}
            try:
                old = getattr(sample, name)
                scope = Scope([sample], codes, {}, {})
            except GraphBreak:
                assert name in kind.ended
                continue
            except (AttributeError, ValueError, chainerx.ChainerxError):
                continue
            try:
                setattr(sample, name, others.get(name, 'other'))
            except (AttributeError, TypeError, ValueError):
                assert name not in kind.named or type(sample) is not types.FunctionType
                continue
            try:
                now = getattr(sample, name)
                assert now == old or scope.watch.find_change() >= 0, name
            finally:
                setattr(sample, name, old)


@pytest.mark.parametrize('value', CONSTANTS, ids=lambda value: type(value).__name__)
def test_constants_take_no_attributes(value):
    assert _trees.is_constant(value)
    assert not hasattr(value, '__dict__')
    with pytest.raises((AttributeError, TypeError)):
        value.new_attribute = 1
    for cls in type(value).__mro__:
        assert cls.__flags__ & (1 << 8) or is_framework_module(cls.__module__), cls


@pytest.mark.parametrize(
    'value',
    [
        np.void(b'a'), np.zeros(1, [('a', 'f')])[0], np.dtype([('a', 'f')]), np.dtype(('f', 2)),
        np.dtype('f', metadata={'a': 1}), iter([1]), bytearray(b'a'), memoryview(b'a'),
        np.random.RandomState(0), type('Dict', (dict,), {})(), type('List', (list,), {})(),
        type('Slots', (), {'__slots__': ('a',)})(), type('F', (float,), {'__slots__': ('a',)})(),
        type('Number', (np.float32,), {})(1), type('Partial', (functools.partial,), {})(len),
        np.frompyfunc(len, 1, 1), np.array([None]), np.ones((3, 3))[::2],
        np.array(['2020-01-01'], 'M8[D]'), np, Indirect(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_cannot_be_watched(value):
    assert not _trees.is_constant(value)
    with pytest.raises(GraphBreak):
        Scope([value], {}, {}, {})


def test_keys():
    """Values have equal keys only if nothing tells one from the other."""
    values = [
        0, 0.0, -0.0, False, 0j, -0j, '', b'', (), None, np.float32(0), np.float32(-0.0), np.int8(0),
        np.int16(0), np.bool_(False), np.datetime64(0, 's'), np.datetime64(0, 'ms'), slice(0),
        slice(False), slice(0, None), range(0), np.dtype('f'), np.dtype('>f4'),
        Rate(0), Mode.A, Text(''),
    ]  # fmt: skip
    for i, a in enumerate(values):
        assert _trees.key(a) == _trees.key(a)
        for j, b in enumerate(values):
            if i != j:
                assert _trees.key(a) != _trees.key(b), (a, b)
    for nan in float('nan'), np.float32('nan'), complex('nan'):
        assert _trees.key(nan) == _trees.key(type(nan)('nan'))


def test_instructions():
    """Each instruction of this Python that has a name is known."""
    known = {
        *_code.GLOBAL_LOADS, *_code.ATTRIBUTE_LOADS, *_code.IMPORTS, *_code.GLOBAL_STORES,
        *_code.OTHER_NAMES,
    }  # fmt: skip
    names = {dis.opname[op] for op in dis.hasname}
    specialized = {name for name in names if name.startswith(('<', 'INSTRUMENTED_'))}
    pseudo = {'LOAD_SUPER_METHOD', 'LOAD_ZERO_SUPER_ATTR', 'LOAD_ZERO_SUPER_METHOD'}
    assert names - specialized - pseudo <= known


def test_names_of_patterns():
    source = 'match x:\n    case Own(s=1) | {"t": 2}:\n        y'
    assert {'Own', 's', 't', 'y'} <= {*_code.names_in(compile(source, '', 'exec'))}
    assert functions.FUNCTION.named


def test_lines_that_store_an_attribute():
    def function(a, b):
        a.x = b.y
        a.y = 1
        return b.x

    code = function.__code__
    for name, number in ('x', 1), ('y', 2):
        line = f' (test_kinds.py:{code.co_firstlineno + number})'
        assert _code.lines_with([code], ('STORE_ATTR',), name) == line
    assert _code.lines_with([code], ('STORE_ATTR',), 'z') == ''
