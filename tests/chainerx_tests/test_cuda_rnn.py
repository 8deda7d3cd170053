"""Recurrent networks of cuDNN on the CUDA backend, held against those of layers.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import numpy as np
import pytest

import chainer
import chainerx
from tests.helpers.cudnn_stand_in import TOLERANCE, assert_equal_to_plain_and_native, emulated
from tests.helpers.programs import run_python

GATES = {'lstm': 4, 'gru': 3, 'rnn': 1, 'relu': 1}
CALLS = {'RNNForward', 'RNNBackwardData_v8', 'RNNBackwardWeights_v8'}
UNITS, INPUTS = 3, 2


class Network:
    """A network of a kind: its arrays, and what it computes of them."""

    def __init__(self, kind='lstm', layers=1, bidirectional=False, lengths=(3, 2, 1), batch=None):
        self.kind, self.layers, self.lengths = kind, layers, lengths
        directions = 1 + bidirectional
        self.cells = layers * directions
        name = 'rnn' if kind == 'relu' else kind
        self.function = getattr(chainerx, f'n_step_{"bi" * bidirectional}{name}')
        states = [(self.cells, lengths[0] if batch is None else batch, UNITS)]
        self.states = states * (2 if kind == 'lstm' else 1)
        widths = [INPUTS if i < directions else directions * UNITS for i in range(self.cells)]
        n = GATES[kind]
        matrices = [(UNITS, m) for width in widths for m in [width] * n + [UNITS] * n]
        biases = [(UNITS,)] * len(matrices)
        self.shapes = [*self.states, *matrices, *biases, *[(n, INPUTS) for n in lengths]]

    def __call__(self, *arrays):
        """States first, then matrices, biases and inputs; returns all outputs."""
        states, arrays = arrays[: len(self.states)], arrays[len(self.states) :]
        n = 2 * GATES[self.kind]
        ws, bs = [
            [list(arrays[start + i * n : start + (i + 1) * n]) for i in range(self.cells)]
            for start in (0, self.cells * n)
        ]
        xs = list(arrays[2 * self.cells * n :])
        options = {'activation': 'relu'} if self.kind == 'relu' else {}
        *last, ys = self.function(self.layers, *states, ws, bs, xs, **options)
        return [*last, *ys]

    def make(self, dtype='float32', device='cuda:0', seed=0):
        random = np.random.default_rng(seed)
        arrays = [random.uniform(-1, 1, shape).astype(dtype) for shape in self.shapes]
        return [chainerx.array(a, device=device) for a in arrays]

    def outputs_and_gradients(self, dtype='float32', device='cuda:0', outputs=slice(None)):
        xs = [x.require_grad() for x in self.make(dtype, device)]
        ys = self(*xs)
        grads = chainerx.grad([_weighted(ys[outputs])], xs)
        return [None if a is None else _to_numpy(a) for a in (*ys, *grads)]


def _weighted(ys):
    """A sum of all elements, with a factor for each."""
    total = 0
    for i, y in enumerate(ys):
        factors = np.cos(np.arange(y.size) + i).reshape(y.shape).astype(y.dtype)
        total = total + (y * chainerx.array(factors, device=y.device)).sum()
    return total


def _to_numpy(a):
    return chainerx.to_numpy(a.as_grad_stopped())


NETWORKS = [
    *[Network(kind, layers, both) for kind in GATES for layers in (1, 2) for both in (0, 1)],
    Network('gru', 3, True, (4, 4, 4)),
    Network('lstm', 1, False, (2,)),
    Network('lstm', 2, True, (3, 1, 0, 0)),
    Network('rnn', 1, False, (1, 1)),
]


def _ids(network):
    return f'{network.function.__name__}-{network.kind}-{network.layers}-{network.lengths}'


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('network', NETWORKS, ids=_ids)
def test_equal_to_layers(network, dtype):
    assert_equal_to_plain_and_native(
        lambda device: network.outputs_and_gradients(dtype, device), dtype
    )


@emulated
@pytest.mark.parametrize('network', NETWORKS, ids=_ids)
def test_calls(network, stand_in):
    network.outputs_and_gradients()
    assert CALLS <= set(stand_in.calls())
    with chainer.using_config('use_cudnn', 'never'):
        network.outputs_and_gradients()
    assert stand_in.calls() == {}


@pytest.mark.parametrize('network', [Network('lstm', 2, True), Network('gru')], ids=_ids)
@pytest.mark.parametrize('output', [0, 1, 2])
def test_gradients_of_one_output(network, output):
    results = network.outputs_and_gradients(outputs=slice(output, output + 1))
    native = network.outputs_and_gradients(device='native:0', outputs=slice(output, output + 1))
    for result, reference in zip(results, native):
        assert (result is None) == (reference is None)
        if result is not None:
            np.testing.assert_allclose(result, reference, rtol=2e-5, atol=1e-4)


@emulated
def test_no_memory_for_gradients_that_nobody_takes(stand_in):
    network = Network()
    network(*network.make())
    assert stand_in.calls()['RNNForward'] == {'training': 0}
    network(*[x.require_grad() for x in network.make()])
    assert stand_in.calls()['RNNForward'] == {'training': 1}


@pytest.mark.parametrize('kind', GATES)
@pytest.mark.parametrize('bidirectional', [False, True])
def test_gradients_of_gradients(kind, bidirectional):
    network = Network(kind, 2, bidirectional)

    def run(device):
        xs = [x.require_grad() for x in network.make('float64', device)]
        grads = chainerx.grad([_weighted(network(*xs))], xs, enable_double_backprop=True)
        second = chainerx.grad([_weighted(grads)], xs)
        return [_to_numpy(a) for a in (*grads, *second)]

    for result, reference in zip(run('cuda:0'), run('native:0')):
        np.testing.assert_allclose(result, reference, rtol=1e-10, atol=1e-12)


def test_graph_that_is_kept():
    """A backward pass of cuDNN overwrites what the forward pass has kept."""
    network = Network('gru', 2, True)
    xs = [x.require_grad() for x in network.make()]
    y = _weighted(network(*xs))
    first, second = (chainerx.grad([y], xs) for _ in range(2))
    for a, b in zip(first, second):
        np.testing.assert_array_equal(_to_numpy(a), _to_numpy(b))


def test_arrays_that_are_not_contiguous():
    network = Network('lstm', 1, True)
    arrays = network.make()
    views = [chainerx.stack([a, a], axis=a.ndim)[..., 0] for a in arrays]
    assert not any(view.is_contiguous for view in views)
    for y, expected in zip(network(*views), network(*arrays)):
        np.testing.assert_array_equal(_to_numpy(y), _to_numpy(expected))


@emulated
@pytest.mark.parametrize(
    'network',
    [Network(lengths=(2, 1), batch=3), Network(lengths=(0, 0), batch=2)],
    ids=['sequence of no steps', 'no steps'],
)
def test_what_takes_layers(network, stand_in):
    results = network.outputs_and_gradients()
    assert not CALLS & set(stand_in.calls())
    for result, reference in zip(results, network.outputs_and_gradients(device='native:0')):
        np.testing.assert_allclose(result, reference, rtol=2e-5, atol=1e-5)


@emulated
def test_deterministic_networks_take_layers(stand_in):
    with chainer.using_config('cudnn_deterministic', True):
        Network().outputs_and_gradients()
    assert not CALLS & set(stand_in.calls())


@emulated
@pytest.mark.parametrize(
    'dtype, mode, math',
    [
        ('float32', 'float32', 3),
        ('float32', 'tf32', 0),
        ('float32', 'bfloat16', 0),
        ('float32', 'float16', 2),
        ('float64', 'tf32', 3),
    ],
)
def test_compute_mode(dtype, mode, math, stand_in):
    chainerx.set_compute_mode(mode)
    try:
        network = Network()
        network(*network.make(dtype))
        assert stand_in.calls()['SetRNNDescriptor_v8'] == {'cell': 2, 'math': math}
    finally:
        chainerx.set_compute_mode('float32')


@emulated
@pytest.mark.parametrize('function', ['RNNForward', 'RNNBackwardData_v8', 'RNNBackwardWeights_v8'])
def test_errors_name_the_operation(function, stand_in):
    Network().outputs_and_gradients()  # has been seen to work
    stand_in.fail(function, 5000)
    with pytest.raises(chainerx.ChainerxError, match='cuDNN error in a recurrent network'):
        Network().outputs_and_gradients()


@emulated
@pytest.mark.parametrize('function', ['SetRNNDescriptor_v8', 'GetRNNTempSpaceSizes'])
def test_what_is_not_supported_takes_layers(function, stand_in):
    stand_in.fail(function, 3000)
    results = Network().outputs_and_gradients()
    assert not CALLS & set(stand_in.calls())
    for result, reference in zip(results, Network().outputs_and_gradients(device='native:0')):
        np.testing.assert_allclose(result, reference, rtol=2e-5, atol=1e-5)


@emulated
def test_recorded_as_a_graph(stand_in):
    network = Network('lstm', 2, True)
    compiled = chainer.compile(lambda arrays: network(*arrays))
    for seed in range(6):
        arrays = network.make(seed=seed)
        expected = network(*arrays)
        stand_in.calls()
        for y, reference in zip(compiled(arrays), expected):
            np.testing.assert_array_equal(_to_numpy(y), _to_numpy(reference))
    assert 'RNNForward' not in stand_in.calls()


@emulated
@pytest.mark.parametrize('function', ['RNNForward', 'RNNBackwardWeights_v8'])
def test_what_does_not_work_takes_layers(function):
    """A small network tells before the first one of its kind and dtype runs."""
    code = f"""
import warnings
import numpy as np
import chainer
import chainerx
from chainer.warnings import PerformanceWarning
from tests.chainerx_tests.test_cuda_rnn import CALLS, Network
from tests.helpers.cudnn_stand_in import StandIn

stand_in = StandIn()
stand_in.fail({function!r}, 5000)
networks = [Network(), Network('lstm', 2, True)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    results = [network.outputs_and_gradients() for network in networks]
assert [w.category for w in caught] == [PerformanceWarning], caught
assert 'does not compute recurrent networks in float32' in str(caught[0].message)
stand_in.restore()
stand_in.calls()
for network, first in zip(networks, results):
    again = network.outputs_and_gradients()
    native = network.outputs_and_gradients(device='native:0')
    for a, b, reference in zip(first, again, native):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, reference, rtol=2e-5, atol=1e-4)
assert not CALLS & set(stand_in.calls())
Network('gru').outputs_and_gradients()
assert CALLS <= set(stand_in.calls())
"""
    run_python(code)
