"""Arguments that are arrays of NumPy: plans send them to ChainerX, if Python reads nothing of them."""

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizers

pytestmark = pytest.mark.chainerx

device = chainer.get_device(DEVICE) if chainerx.is_available() else None
WEIGHTS = np.array([1, 2, 3], 'f')


def compare(function, calls, **options):
    """Calls a function eagerly and compiled; returns the compiled one."""
    compiled = chainer.compile(function, **options)
    with chainer.no_backprop_mode():
        for args in calls:
            before = bits(list(args))
            assert bits(compiled(*args)) == bits(function(*args))
            assert bits(list(args)) == before
    return compiled


def numbers(seed, *shape, dtype='f'):
    return (np.random.RandomState(seed).rand(*shape) * 9 - 4).astype(dtype)


def at_once(x, y):
    return chainerx.array(x) * 2 + chainerx.asarray(y)


def replaced(x, y):
    x = chainerx.array(x)
    y = device.send(y)
    for _ in range(2):
        x = x * y
    return x if len(x) > 0 else y * 1


def both(x, y):
    x, y = device.send((y, x))
    return x - y * 2


def nested(x, y):
    (x, (y,)) = device.send([x, (y,)])
    return x - y * 2


def cast(x, y):
    x = chainerx.array(x.astype(np.float32))
    return x + chainerx.array(y.astype('d')) * 2


def another_variable(x, y):
    z = x.astype('f')
    return chainerx.array(z) - chainerx.array(y)


def with_its_form(x, y):
    n = len(x) + x.ndim + y.size if x.shape else 1
    return chainerx.array(x, dtype=x.dtype) * n + chainerx.array(y)


def of_the_device(x, y):
    return device.xp.array(x, device=DEVICE) - chainer.backend.to_chx(y)


def twice(x, y):
    return chainerx.array(x) + chainerx.array(x) * chainerx.array(y)


def by_a_method(x, y):
    return chainerx.array(x).reshape((-1,)) + chainerx.array(y).sum()


def with_a_branch_after(x, y):
    x = device.send(x)
    y = device.send(y)
    if len(WEIGHTS) == 3:
        x = x + y
    return x * chainerx.array(WEIGHTS[:1])


def with_a_name(x, *, y):
    return chainerx.array(x) - chainerx.array(y)


SENDING = [
    at_once, replaced, both, nested, cast, another_variable, with_its_form, of_the_device, twice,
    by_a_method, with_a_branch_after,
]  # fmt: skip


@pytest.mark.parametrize('function', SENDING, ids=lambda f: f.__name__)
def test_sent(function):
    calls = [(numbers(i, 4, 3), numbers(-i + 9, 4, 3)) for i in range(8)]
    compiled = compare(function, calls)
    assert compiled.replays == 6, compiled.report()
    # A form of its own for each shape and dtype.
    others = [(numbers(i, n), numbers(i, n, dtype='d')) for i in range(4) for n in (3, 0, 1)]
    more = compare(function, others)
    assert more.replays >= 8 and more.recordings == 3, more.report()
    checked = compare(function, calls, check=True)
    assert checked.replays == 6


def test_names():
    compiled = chainer.compile(with_a_name)
    for i in range(6):
        x, y = numbers(i, 3), numbers(i + 9, 3)
        assert bits(compiled(y=y, x=x)) == bits(with_a_name(x, y=y))
    assert compiled.replays == 4, compiled.report()


def forms(x):
    read_only = x.copy()
    read_only.flags.writeable = False
    unaligned = np.zeros(x.nbytes + 1, 'b')[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    return {
        'contiguous': x,
        'Fortran': np.asfortranarray(x),
        'every second': np.repeat(x, 2, axis=0)[::2],
        'backwards': x[::-1].copy()[::-1],
        'broadcast': np.broadcast_to(x[:1], x.shape),
        'read-only': read_only,
        'unaligned': unaligned,
    }


@pytest.mark.parametrize('dtype', ['f', 'd', 'e', 'i', 'q', 'b', 'B', '?'])
@pytest.mark.parametrize('form', forms(np.zeros((4, 3), 'f')))
@pytest.mark.parametrize('shares', [False, True])
def test_forms(form, dtype, shares):
    def copied(x):
        return chainerx.array(x) * 2

    def shared(x):
        return device.send(x) * 2

    calls = [(forms(numbers(i, 4, 3, dtype=dtype))[form],) for i in range(5)]
    compiled = compare(shared if shares else copied, calls)
    # Arrays on the device keep the order of elements, and some the memory; plans take no gaps.
    has_gaps = not (device.send if shares else chainerx.array)(*calls[0]).is_contiguous
    assert compiled.replays == (0 if has_gaps else 3), compiled.report()
    assert not has_gaps or 'with gaps' in compiled.report()


def _first(x, y):
    z = x
    x, y = device.send((z, y))
    return x - y * 2


def _last(x, y):
    z = x
    y, x = device.send((y, z))
    return x - y * 2


@pytest.mark.parametrize('function', [_first, _last])
def test_order_of_arrays(function):
    """Equal arrays at first do not tell in what order a call takes them."""
    same = numbers(0, 3)
    compare(function, [(same, same.copy())] * 4 + [(numbers(i, 3), same) for i in range(4)])


# -- what Python reads


class Own:
    """Reads what it is given."""

    def __init__(self, value):
        self.value = float(np.sum(value))


def total(x):
    return float(x.sum())


def _closure(x):
    def inner():
        return float(x[0])

    return chainerx.array(x) * inner()


def _loop(x):
    y = chainerx.array(x)
    for function in chainerx.array, np.negative:
        y = y + chainerx.array(function(x) if function is np.negative else WEIGHTS)
    return y


def _loop_of_one_call(x):
    y = 0
    for function in chainerx.array, total:
        y = function(x) + y
    return y


def _maybe_replaced(x):
    if chainer.config.train:
        x = chainerx.array(x)
    return x + chainerx.array(WEIGHTS) if chainer.config.train else x


def _handler(x):
    try:
        chainerx.array(WEIGHTS).reshape((7,))
        x = chainerx.array(x)
    except chainerx.DimensionError:
        return chainerx.array(WEIGHTS) * float(x[0])
    return x


def _recursive(x, depth=1):
    if depth:
        return _recursive(x * 1, 0) + chainerx.array(WEIGHTS)
    return chainerx.array(x)


def _recursive_elsewhere(x, other=None):
    if other is None:
        return _recursive_elsewhere(WEIGHTS * 1, 1)
    return chainerx.array(x)


def _twice_cast(x):
    return chainerx.array(x.astype('e').astype('d'))


def _changed(x):
    x += 1
    return chainerx.array(x)


def _kept(x):
    WEIGHTS.base is x  # noqa: B015
    Own.last = x
    return chainerx.array(x)


READING = {
    'a sum': lambda x: chainerx.array(x) * total(x),
    'a method': lambda x: chainerx.array(x) * float(x.max()),
    'an item': lambda x: chainerx.array(x) * float(x[0]),
    'arithmetic': lambda x: chainerx.array(x * 2),
    'a comparison': lambda x: chainerx.array(x) if (x > 0).all() else chainerx.array(WEIGHTS),
    'a function of NumPy': lambda x: chainerx.array(np.exp(x)),
    'an object': lambda x: chainerx.array(x) * Own(x).value,
    'iteration': lambda x: chainerx.array([float(v) for v in x], 'f'),
    'in a container': lambda x: chainerx.array(*[x]),
    'a call by another': lambda x: chainerx.array(*map(np.negative, [x])),
    'named variables': lambda x: chainerx.array(x) * float(locals()['x'][0]),
    'a closure': _closure,
    'a loop': _loop,
    'a loop of one call': _loop_of_one_call,
    'perhaps replaced': _maybe_replaced,
    'a handler': _handler,
    'recursion': _recursive,
    'recursion with others': _recursive_elsewhere,
    'two casts': _twice_cast,
}


@pytest.mark.parametrize('name', READING)
def test_read(name):
    """Values that Python may read end the plan, however they are read."""
    compiled = compare(READING[name], [(numbers(i, 3) + 5,) for i in range(9)])
    assert compiled.replays == 0
    assert 'of NumPy' in compiled.report() or 'shares memory of the program' in compiled.report()


def test_changes_of_the_argument():
    compiled = chainer.compile(_changed)
    for i in range(6):
        x, y = numbers(i, 3), numbers(i, 3)
        assert bits(compiled(x)) == bits(_changed(y)) and bits(x) == bits(y)
    assert compiled.replays == 0

    def written(x):
        x = device.send(x)  # in the memory of NumPy
        x += 1
        return x * 2

    compiled = chainer.compile(written)
    for i in range(6):
        x, y = numbers(i, 3), numbers(i, 3)
        assert bits(compiled(x)) == bits(written(y)) and bits(x) == bits(y)


def test_containers_and_types():
    for value in ([numbers(0, 3)], {'x': numbers(0, 3)}, np.ma.masked_array(numbers(0, 3)),
                  np.array(['a']), np.zeros(3, 'M8[s]'), np.zeros(3, [('a', 'f')])):  # fmt: skip
        compiled = chainer.compile(lambda x, y: chainerx.array(y) * 2)
        for i in range(5):
            compiled(value, numbers(i, 3))
        assert compiled.replays == 0 and 'numpy' in compiled.report().lower()


def test_arrays_that_alias():
    x = numbers(0, 6)
    compiled = chainer.compile(lambda x, y: chainerx.array(x) + chainerx.array(y) * 2)
    for i in range(6):
        x += i
        for args in (x, x), (x[:3], x[2:5]), (x[:3], x[3:]):
            assert bits(compiled(*args)) == bits(compiled._compiled_function(*args))
    assert compiled.replays == 11, compiled.report()  # but not with one array for both
    # The function finds the same array elsewhere, whose data are watched there.
    compiled = chainer.compile(lambda x: chainerx.array(x) * chainerx.array(WEIGHTS))
    for i in range(9):
        WEIGHTS[1] = i // 3
        expected = bits(compiled._compiled_function(WEIGHTS))
        assert bits(compiled(WEIGHTS)) == expected
    WEIGHTS[1] = 2
    assert compiled.replays == 5, compiled.report()


def test_an_array_beside_arrays_of_chainerx():
    compiled = chainer.compile(lambda x, y, z: (x + chainerx.array(y) * 2, z - x))
    for i in range(6):
        x, y, z = array(numbers(i, 3)), numbers(i + 1, 3), array(numbers(i + 2, 3))
        assert bits(compiled(x, y, z)) == bits(compiled._compiled_function(x, y, z))
    assert compiled.replays == 4


class Classifier:
    """Converts batches within the step, as scripts do."""

    def __init__(self):
        self.model = chainer.Sequential(L.Linear(4, 5), F.tanh, L.Linear(5, 3)).to_device(DEVICE)
        self.optimizer = optimizers.Adam().setup(self.model)

    def step(self, x, t):
        x, t = self.model.device.send((x.astype(np.float32), t))
        y = self.model(x)
        loss = F.softmax_cross_entropy(y, t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss, F.accuracy(y, t, ignore_label=-1)

    def state(self):
        return state_of(self.model, self.optimizer)


@pytest.mark.parametrize('dtype', ['i', 'q'])
def test_training(dtype):
    pair = Pair(Classifier)
    rng = np.random.RandomState(0)
    for i in range(12):
        x, t = rng.rand(6, 4), rng.randint(-1, 3, 6).astype(dtype)
        pair.run(x, t)
        assert i < 2 or pair.function.replays == i - 1, pair.function.report()


def test_labels_out_of_range():
    pair = Pair(Classifier)
    for i in range(4):
        pair.run(numbers(i, 6, 4), np.arange(6) % 3)
    outcomes = []
    for step in pair.usual.step, pair.function:
        with pytest.raises(chainerx.ChainerxError, match='7') as caught:
            step(numbers(0, 6, 4), np.array([0, 1, 7, 0, 1, 2]))
        outcomes.append((type(caught.value), str(caught.value)))
    assert outcomes[0] == outcomes[1]
    assert pair.usual.optimizer.t == pair.compiled.optimizer.t
    pair.settle(numbers(0, 6, 4), np.arange(6) % 3)
