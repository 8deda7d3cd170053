"""The types of contexts, devices, graphs and scopes: whatever a program does with them, an error is raised."""

import contextlib
import copy
import copyreg
import gc
import inspect
import pickle
import tempfile
import weakref

import pytest
from helpers.programs import run_python

import chainer
import chainerx
from chainerx import _core

TYPES = sorted(
    {t for t in vars(_core).values() if isinstance(t, type) and not issubclass(t, Exception)},
    key=lambda t: t.__name__,
)
# A file with the node y = relu(x).
ONNX_FILE = (
    b'\x08\x07:5\n\x0c\n\x01x\x12\x01y"\x04Relu\x12\x01gZ\x10\n\x01x\x12\x0b\n\t\x08\x01\x12\x05\n'
    b'\x03\x12\x01nb\x10\n\x01y\x12\x0b\n\t\x08\x01\x12\x05\n\x03\x12\x01nB\x04\n\x00\x10\r'
)


def saved_plan():
    """A plan from a file, of one function."""
    step = chainer.compile(chainer.functions.relu)
    x = chainerx.ones(2)
    for _ in range(3):
        step(x)
    with tempfile.TemporaryDirectory() as folder:
        step.save(f'{folder}/relu.plan')
        return _core._SavedPlan(f'{folder}/relu.plan', chainerx.get_device('native:0'))


#: What makes an object of each type.
MAKE = {
    'AnyGraph': lambda: chainerx.anygraph,
    'Backend': lambda: chainerx.get_backend('native'),
    'BackpropId': lambda: chainerx.Context().make_backprop_id('graph'),
    'BackpropScope': lambda: chainerx.backprop_scope('graph'),
    'Context': chainerx.Context,
    'ContextScope': lambda: chainerx.context_scope(chainerx.Context()),
    'Device': lambda: chainerx.get_device('native:1'),
    'DeviceScope': lambda: chainerx.using_device('native:1'),
    'ForceBackpropMode': chainerx.force_backprop_mode,
    'NoBackpropMode': chainerx.no_backprop_mode,
    'Stream': lambda: chainerx.Stream('native:0'),
    '_CallListener': _core._CallListener,
    '_Recorder': lambda: _core._Recorder('native:0', print),
    '_Places': lambda: _core._Places([chainerx.ones(2)]),
    '_Plan': lambda: _core._Recorder('native:0', print).plan([], [], [], [], [], [], []),
    '_SavedPlan': saved_plan,
    '_Scratch': _core._Scratch,
    '_Watch': _core._Watch,
    '_OnnxModel': lambda: _core._load_onnx_bytes(ONNX_FILE),
    '_Subgraph': lambda: _core._numpy_outputs([x := chainerx.ones(2).require_grad()], [x * 2])[1],
    'ndarray': lambda: chainerx.ones(2),
}
NEED_GPUS = {'_DeviceGroup'}
PICKLED = 'Device', 'ndarray'
SURROGATE = {'\udcff': 1}


def members(t):
    return [name for name in dir(t) if name not in dir(object) or name in vars(t)]


def test_table_has_all_types():
    assert {t.__name__ for t in TYPES} == MAKE.keys() | NEED_GPUS


@pytest.mark.parametrize('t', TYPES)
def test_base_class(t):
    assert t.__mro__[1] is object
    with pytest.raises(TypeError, match='not safe'):
        object.__new__(t)


def make_without_init(t):
    """Objects whose ``__init__`` was not called, if Python makes any."""

    class Derived(t):
        def __init__(self):
            pass

    name = f'{t.__module__}\n{t.__name__}\n'.encode()
    for make in (
        lambda: t.__new__(t),
        lambda: t.__new__(t, 1, wrong=2),
        lambda: Derived(),
        lambda: Derived.__new__(Derived),
        lambda: copyreg.__newobj__(t),
        lambda: copyreg._reconstructor(t, object, None),
        lambda: pickle.loads(b'\x80\x02c' + name + b')\x81.'),
        lambda: pickle.loads(
            b'ccopyreg\n_reconstructor\n(c' + name + b'c__builtin__\nobject\nNtR.'
        ),
        lambda: copy.copy(Derived()),
        lambda: copy.deepcopy(Derived()),
    ):
        with contextlib.suppress(TypeError):
            yield make()


#: Functions that take objects of these types.
TAKERS = (
    lambda o: chainerx.zeros(2, device=o),
    lambda o: chainerx.context_scope(o),
    lambda o: chainerx.no_backprop_mode(o),
    lambda o: chainerx.is_backprop_required(o),
    lambda o: chainerx.set_default_context(o),
    lambda o: chainerx.set_default_device(o),
    lambda o: chainerx.ones(2).require_grad(o),
    lambda o: chainerx.backprop_scope('a', o),
)


@pytest.mark.parametrize('t', [t for t in TYPES if t is not chainerx.ndarray])
def test_objects_without_init(t):
    for bare in make_without_init(t):
        for name in members(t):
            if inspect.isgetsetdescriptor(getattr(t, name)):
                with pytest.raises(TypeError, match='not been initialized'):
                    getattr(bare, name)
            elif inspect.isroutine(getattr(t, name)) and not name.startswith(('__init', '__new')):
                for n in range(4):
                    with pytest.raises(TypeError):
                        getattr(bare, name)(*[None] * n)
        for call in TAKERS:
            with pytest.raises(TypeError):
                call(bare)


@pytest.mark.parametrize('name', ['AnyGraph', 'Backend', 'BackpropId', 'Device', '_Subgraph'])
def test_types_that_cannot_be_called(name):
    with pytest.raises(TypeError, match=name):
        getattr(_core, name)()


@pytest.mark.parametrize('name', [name for name in sorted(MAKE) if name not in PICKLED])
def test_objects_that_cannot_be_copied(name):
    o = MAKE[name]()
    for call in (
        copy.copy,
        copy.deepcopy,
        *([lambda o, p=p: pickle.dumps(o, p) for p in range(6)]),
    ):
        with pytest.raises(TypeError, match=name):
            call(o)
    for protocol in range(6):
        with pytest.raises(TypeError, match=name):
            o.__reduce_ex__(protocol)


@pytest.mark.parametrize('protocol', range(6))
def test_devices_can_be_pickled(protocol):
    device = chainerx.get_device('native:1')
    assert pickle.loads(pickle.dumps(device, protocol)) is device
    assert copy.deepcopy(device) is device


@pytest.mark.parametrize(
    'name', [name for name in MAKE if '__init__' in vars(getattr(_core, name))]
)
def test_second_init(name):
    o = MAKE[name]()
    for args in (), (chainerx.Context(),), ('native',), (None,), (1, 2, 3):
        with pytest.raises(TypeError):
            o.__init__(*args)


def callables():
    """Every function, class and method of the core, as a call with given arguments."""
    for owner in chainerx, chainerx.random, chainerx.linalg, _core:
        for name, f in vars(owner).items():
            # NumPy's dtypes are not ours: some take any keyword.
            if callable(f) and getattr(f, '__module__', None) not in ('chainerx.testing', 'numpy'):
                yield f'{owner.__name__}.{name}', f
    for t in TYPES:
        for name in members(t):
            if callable(getattr(t, name)) and name not in ('__class__', '__init_subclass__'):
                yield (
                    f'{t.__name__}.{name}',
                    lambda *args, t=t, name=name, **kwargs: getattr(MAKE[t.__name__](), name)(
                        *args, **kwargs
                    ),
                )


CALLABLES = dict(callables())


@pytest.mark.parametrize('name', sorted(CALLABLES))
def test_keywords_that_have_no_encoding(name):
    for args in [(), (1,), (None, None)]:
        with pytest.raises((TypeError, ValueError, LookupError, AttributeError, OSError)):
            result = CALLABLES[name](*args, **SURROGATE)
            # Exceptions take what they are given.
            assert isinstance(result, Exception)
            raise TypeError


@pytest.mark.parametrize('value', [1, None, b'a', 1.5, '\udcff', ['a'], chainerx.Context])
@pytest.mark.parametrize(
    'call',
    [
        lambda x: chainerx.Context().make_backprop_id(x),
        lambda x: chainerx.get_default_context().make_backprop_id(x),
        lambda x: chainerx.get_default_context().get_backend(x),
        lambda x: chainerx.get_default_context().get_device(x),
        lambda x: chainerx.get_default_context().get_device(x, 0),
        lambda x: chainerx.get_backend(x),
        lambda x: chainerx.get_device(x, 0),
        lambda x: chainerx.backprop_scope(x),
        lambda x: chainerx.get_default_context().release_backprop_id(x),
        lambda x: chainerx.get_default_context()._check_valid_backprop_id(x),
        lambda x: chainerx.context_scope(x),
        lambda x: chainerx.no_backprop_mode([x]),
        lambda x: chainerx.ones(2).as_grad_stopped([x]),
        lambda x: chainerx.ones(2).as_grad_stopped(copy=[x]),
        lambda x: chainerx.ones(2).as_grad_stopped(backprop_ids=[x]),
    ],
)
def test_wrong_arguments(call, value):
    with pytest.raises((TypeError, UnicodeEncodeError)) as caught:
        call(value)
    assert str(caught.value)


def test_indexes_beyond_32_bits():
    backend = chainerx.get_backend('native')
    for index in 2**31, 2**32, -(2**32), 2**64:
        for call in (
            lambda i: backend.get_device(i),
            lambda i: chainerx.get_device('native', i),
            lambda i: chainerx.using_device('native', i),
            lambda i: chainerx.get_default_context().get_device('native', i),
            lambda i: chainerx.ones(2).to_device('native', i),
        ):
            with pytest.raises(OverflowError, match='index'):
                call(index)


def test_graphs_keep_their_context_open():
    graph = chainerx.Context().make_backprop_id('graph')
    gc.collect()
    assert graph.name == 'graph'
    assert graph.context is graph.context


def test_an_object_asked_for_while_it_ends():
    class Derived(chainerx.Context):
        pass

    class Asks:
        def __del__(self):
            found.append(device.context)

    found = []
    context = Derived()
    device = context.get_device('native:0')
    reference = weakref.ref(context, lambda _: found.append(device.context))
    context.asks = Asks()
    del context
    gc.collect()
    assert reference() is None
    assert len(found) == 2 and found[0] is found[1] is device.context
    assert type(device.context) is chainerx.Context


def test_user_code_that_runs_when_a_device_ends():
    # In a program of its own: other tests may hold the device.
    run_python("""
        import weakref
        import chainerx

        x, y = chainerx.ones(1, device='native:0'), chainerx.ones(1, device='native:1')
        found = []
        reference = weakref.ref(y.device, lambda _: found.append(y.device.name))
        assert x.device.name == 'native:0' and y.device.name == 'native:1'
        assert found == ['native:1'] and reference() is None
    """)


def test_a_default_device_of_another_context_is_not_restored():
    code = """
import chainerx
first = chainerx.get_default_context()
scope = chainerx.context_scope(chainerx.Context())
chainerx.set_default_device('native:1')
scope.__enter__()
chainerx.set_global_default_context(chainerx.Context())
scope.__exit__()
assert chainerx.get_default_device().context is chainerx.get_default_context() is not first
with chainerx.using_device('native:1'):
    chainerx.set_default_context(first)
assert chainerx.get_default_device().name == 'native:0' and chainerx.get_default_device().context is first
"""
    run_python(code)


def test_user_code_ends_the_context_of_a_default_device():
    class Ends:
        def __array__(self, *args, **kwargs):
            scopes.pop().__exit__()
            gc.collect()
            import numpy

            return numpy.ones(3)

    for function in chainerx.array, chainerx.asarray, chainerx.ascontiguousarray:
        scopes = [chainerx.context_scope(chainerx.Context())]
        scopes[0].__enter__()
        x = function(Ends())
        assert x.device.context is not chainerx.get_default_context()
        chainerx.testing.assert_array_equal(x + x, [2, 2, 2])


@pytest.mark.parametrize(
    'call',
    [
        lambda: chainerx.zeros((1 << 44,), 'float32'),
        lambda: chainerx.broadcast_to(chainerx.ones(1, 'float32'), (1 << 44,)).copy(),
        lambda: chainerx.zeros((1 << 44,), 'float32', device='native:0'),
    ],
)
def test_memory_errors_say_how_much_and_where(call):
    with pytest.raises(MemoryError, match=rf"{1 << 46} bytes .*'native:0'"):
        call()
