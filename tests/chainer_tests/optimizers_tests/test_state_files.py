"""States of update rules in files that are mapped into memory."""

import copy
import os

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers
from tests.helpers.programs import run_python

needs_proc = pytest.mark.skipif(not os.path.exists('/proc/self/maps'), reason='needs /proc')

OPTIMIZERS = {
    'Adam': lambda: optimizers.Adam(amsgrad=True),
    'MomentumSGD': optimizers.MomentumSGD,
    'RMSpropGraves': optimizers.RMSpropGraves,
    'AdaDelta': optimizers.AdaDelta,
    'SMORMS3': optimizers.SMORMS3,
}


def make_model(device='@numpy'):
    model = chainer.Sequential(L.Linear(200, 150), F.tanh, L.Linear(150, 4))
    generator = np.random.default_rng(0)
    for param in model.params():
        param.array[...] = generator.normal(size=param.shape) * 0.1
    model.to_device(device)
    return model


def train(model, optimizer, steps=3, compiles=False):
    """Trains, and returns the parameters and states as NumPy arrays."""
    device = model.device
    generator = np.random.default_rng(1)

    def step(x):
        loss = F.sum(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()

    if compiles:
        step = chainer.compile(step)
    for _ in range(steps):
        step(device.send(generator.normal(size=(5, 200)).astype(model[0].W.dtype)))
    result = {}
    for name, param in model.namedparams():
        arrays = {'array': param.array, **param.update_rule.state}
        for key, array in arrays.items():
            result[f'{name}/{key}'] = chainer.backend.CpuDevice().send(array).copy()
    return result


def assert_equal(actual, expected):
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(actual[name], array, err_msg=name, strict=True)


def is_mapped(array, folder):
    """Tells whether the memory of an array is a file of a folder."""
    address = chainer.backend.from_chx(array).__array_interface__['data'][0]
    with open('/proc/self/maps') as file:
        for line in file:
            bounds, *_, path = line.split(maxsplit=5)
            start, stop = [int(bound, 16) for bound in bounds.split('-')]
            if start <= address < stop:
                return path.startswith(str(folder))
    raise AssertionError('no memory at this address')


def states_of(model):
    return [s for param in model.params() for s in param.update_rule.state.values()]


def mapped_sizes(model, folder):
    return {array.size for array in states_of(model) if is_mapped(array, folder)}


DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


@needs_proc
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', OPTIMIZERS)
def test_equals_a_training_in_memory(name, device, tmp_path):
    expected = train(make := make_model(device), OPTIMIZERS[name]().setup(make))
    model = make_model(device)
    optimizer = OPTIMIZERS[name]().setup(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    assert_equal(train(model, optimizer), expected)
    assert mapped_sizes(model, tmp_path) == {200 * 150}  # the others are too small
    assert os.listdir(tmp_path) == []


@needs_proc
def test_before_setup_and_back_to_memory(tmp_path):
    model = make_model()
    optimizer = optimizers.Adam()
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    optimizer.setup(model)
    train(model, optimizer)
    assert mapped_sizes(model, tmp_path) == {200 * 150}
    before = [array.copy() for array in states_of(model)]
    chainer.optimizer.use_state_files(optimizer, None)
    assert mapped_sizes(model, tmp_path) == set()
    for array, of_file in zip(states_of(model), before):
        np.testing.assert_array_equal(array, of_file)
    train(model, optimizer)
    assert mapped_sizes(model, tmp_path) == set()
    assert optimizer.t == 6


@needs_proc
def test_states_that_exist_move(tmp_path):
    model = make_model()
    optimizer = optimizers.Adam().setup(model)
    expected = train(model, optimizer)
    chainer.optimizer.use_state_files(optimizer, str(tmp_path))
    assert mapped_sizes(model, tmp_path) == {200 * 150}
    assert_equal(train(model, optimizer, 0), expected)


@needs_proc
@pytest.mark.parametrize('device', DEVICES)
def test_snapshots(device, tmp_path):
    model = make_model(device)
    optimizer = optimizers.Adam().setup(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    expected = train(model, optimizer)
    chainer.serializers.save_npz(tmp_path / 'optimizer', optimizer)
    chainer.serializers.save_npz(tmp_path / 'model', model)
    for steps in 0, 2:  # into a rule without a state, and with one
        other = make_model(device)
        loaded = optimizers.Adam().setup(other)
        chainer.optimizer.use_state_files(loaded, tmp_path)
        if steps:
            train(other, loaded, steps)
        chainer.serializers.load_npz(tmp_path / 'model', other)
        chainer.serializers.load_npz(tmp_path / 'optimizer', loaded)
        assert mapped_sizes(other, tmp_path) == {200 * 150}
        assert_equal(train(other, loaded, 0), expected)
    assert sorted(os.listdir(tmp_path)) == ['model', 'optimizer']


@needs_proc
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('compiles', [False, True])
def test_master_copies(device, compiles, tmp_path):
    def make():
        with chainer.using_config('dtype', np.float16):
            model = make_model(device)
        optimizer = optimizers.Adam().setup(model)
        optimizer.use_fp32_update()
        return model, optimizer

    def are_mapped(model):
        arrays = [param.update_rule._fp32_param.array for param in model.params()]
        return {array.size for array in arrays if is_mapped(array, tmp_path)} == {200 * 150}

    in_memory = make()
    train(*in_memory, 1, compiles)
    expected = train(*in_memory, 3, compiles)
    model, optimizer = in_files = make()
    train(*in_files, 1, compiles)
    assert not are_mapped(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    assert are_mapped(model)
    assert_equal(train(*in_files, 3, compiles), expected)
    assert are_mapped(model)
    with chainer.using_config('exact_resume', 'always'):
        chainer.serializers.save_npz(tmp_path / 'optimizer', optimizer)
    other, loaded = make()
    chainer.optimizer.use_state_files(loaded, tmp_path)
    other.copyparams(model)
    chainer.serializers.load_npz(tmp_path / 'optimizer', loaded)
    assert are_mapped(other)
    assert_equal(train(other, loaded, 3, compiles), train(*in_memory, 3, compiles))
    chainer.optimizer.use_state_files(loaded, None)
    assert not are_mapped(other)


@needs_proc
@pytest.mark.chainerx
def test_moves_with_the_model(tmp_path):
    model = make_model()
    optimizer = optimizers.Adam().setup(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    train(model, optimizer)
    model.to_device('native:0')
    train(model, optimizer)
    assert mapped_sizes(model, tmp_path) == {200 * 150}


@needs_proc
@pytest.mark.chainerx
def test_compiled_steps(tmp_path):
    expected = train(make := make_model('native:0'), optimizers.Adam().setup(make), 5)
    model = make_model('native:0')
    optimizer = optimizers.Adam().setup(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    assert_equal(train(model, optimizer, 5, compiles=True), expected)
    assert mapped_sizes(model, tmp_path) == {200 * 150}


def test_copies_have_states_of_their_own(tmp_path):
    model = make_model()
    optimizer = optimizers.MomentumSGD().setup(model)
    chainer.optimizer.use_state_files(optimizer, tmp_path)
    expected = train(model, optimizer)
    train(*copy.deepcopy((model, optimizer)))
    assert_equal(train(model, optimizer, 0), expected)


@pytest.mark.parametrize(
    ('folder', 'error'), [('missing', OSError), (3, TypeError), (b'.', TypeError)]
)
def test_bad_folders_change_nothing(folder, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make_model()
    optimizer = optimizers.Adam().setup(model)
    train(model, optimizer)
    before = states_of(model)
    with pytest.raises(error):
        chainer.optimizer.use_state_files(optimizer, folder)
    train(model, optimizer)
    assert all(map(lambda a, b: a is b, states_of(model), before))


NO_ROOM = """
import os, resource
import numpy as np
import chainer
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
param = chainer.Parameter(np.ones((1024, 300), np.float32))
link = chainer.Link()
with link.init_scope():
    link.p = param
optimizer = chainer.optimizers.MomentumSGD(0.5).setup(link)
chainer.optimizer.use_state_files(optimizer, os.environ['FOLDER'])
param.grad = np.ones_like(param.array)
try:
    optimizer.update()
except OSError as error:
    print(error)
chainer.optimizer.use_state_files(optimizer, None)
optimizer.update()
print(param.array.min(), param.array.max())
"""


@pytest.mark.skipif(os.name != 'posix', reason='needs limits of processes')
def test_no_room(tmp_path):
    out = run_python(NO_ROOM, FOLDER=str(tmp_path)).stdout.splitlines()
    assert 'a state of 1228800 bytes needs room in the folder' in out[0]
    assert str(tmp_path) in out[0]
    assert out[1] == '0.5 0.5'


MEMORY = """
import os
import numpy as np
import chainer

def own_mib():
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('RssAnon')) / 1024

param = chainer.Parameter(np.ones((4096, 2048), np.float32))
link = chainer.Link()
with link.init_scope():
    link.p = param
optimizer = chainer.optimizers.Adam().setup(link)
if 'FOLDER' in os.environ:
    chainer.optimizer.use_state_files(optimizer, os.environ['FOLDER'])
param.grad = np.ones_like(param.array)
before = own_mib()
optimizer.update()
print(own_mib() - before)
"""


@needs_proc
@pytest.mark.measures_memory
def test_memory(tmp_path):
    in_memory = float(run_python(MEMORY).stdout)
    in_files = float(run_python(MEMORY, FOLDER=str(tmp_path)).stdout)
    assert in_memory > 60
    assert in_files < in_memory - 50  # 64 MiB of states; making one takes memory for a moment


def test_bad_optimizer(tmp_path):
    with pytest.raises(TypeError, match='optimizer must be a GradientMethod, but Linear was given'):
        chainer.optimizer.use_state_files(L.Linear(1, 1), tmp_path)
