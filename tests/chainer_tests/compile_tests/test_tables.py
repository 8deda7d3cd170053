"""Every function and link under ``chainer.compile``: forward and backward, bit by bit."""

import re

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of
from helpers.devices import IS_CUDA
from helpers.function_table import ROWS

import chainer
import chainer.functions as F
from chainer import optimizers
from tests.chainer_tests.links_tests.test_links import LINKS

pytestmark = [pytest.mark.chainerx, pytest.mark.filterwarnings('ignore::DeprecationWarning')]
CALLS = [(name, call) for name, row in ROWS.items() for call in [(row.f, *row.inputs), *row.calls]]
RANDOM = [(name, call) for name, row in ROWS.items() for call in row.random]
_SEEDS = 'np.random.seed .* cannot be watched|random numbers of NumPy'  # the row seeds NumPy
_FALLS_BACK = 'the program looks into the memory of an array'
_READS = 'the value of an array is read'
_NONZERO = "the kernel 'nonzero', which cannot be repeated"
_GAPS = 'data of the program with gaps'
#: Functions some of whose calls here make no plan, with the reasons.
WITHOUT_PLANS = {
    'classification_summary': _READS,
    'cumprod': _READS,
    'f1_score': _READS,
    'fbeta_score': _READS,
    'gaussian': 'RandomState of unknown effects',  # the row seeds NumPy
    'get_item': _NONZERO,  # a mask decides the shape
    'gumbel_softmax': _SEEDS,
    'negative_sampling': _NONZERO,
    'permutate': _FALLS_BACK,  # it checks the indices
    'precision': _READS,
    'recall': _READS,
    'roi_average_align_2d': _FALLS_BACK,
    'roi_average_pooling_2d': _FALLS_BACK,
    'roi_max_align_2d': _FALLS_BACK,
    'roi_max_pooling_2d': _FALLS_BACK,
    'roi_pooling_2d': _FALLS_BACK,
    'scatter_add': _GAPS,
    'sparse_matmul': f'{_FALLS_BACK}|{_GAPS}',
    'transpose_sequence': 'nothing of it ran on ChainerX',  # no sequences
    'upsampling_2d': _FALLS_BACK,
    'zoneout': _SEEDS,
}
if IS_CUDA:  # where its row copies to another backend
    WITHOUT_PLANS['copy'] = 'an array moves to another device'
#: The same for links.
LINKS_WITHOUT_PLANS = {
    'BinaryHierarchicalSoftmax': 'BinaryHierarchicalSoftmaxFunction, which cannot be watched',
    'BlackOut': 'WalkerAlias, which cannot be watched',
    'NegativeSampling': 'WalkerAlias, which cannot be watched',
    'StatefulZoneoutLSTM': 'c of StatefulZoneoutLSTM belongs to a graph',
}


def _check(function, reason):
    """Checks that a plan ran, or that none was made for the reason which is known."""
    if function.replays == 0:
        assert reason is not None, function.report()
        assert re.search(reason, function.report().split('\n', 1)[1])


def _as_tuple(ys):
    return ys if isinstance(ys, (tuple, list)) else (ys,)


class Call:
    """A function of parameters (where floating point) and other arrays, with all its gradients."""

    def __init__(self, function, arrays):
        self.function = function
        self.model = chainer.Link()
        with self.model.init_scope():
            for i, a in enumerate(arrays):
                if a.dtype.kind == 'f':
                    setattr(self.model, f'p{i}', chainer.Parameter(a.astype('f')))
        self.model.to_device(DEVICE)
        self.floating = [a.dtype.kind == 'f' for a in arrays]

    def step(self, *arrays):
        xs = [
            getattr(self.model, f'p{i}') if is_floating else chainer.Variable(x)
            for i, (x, is_floating) in enumerate(zip(arrays, self.floating))
        ]
        self.model.cleargrads()
        ys = [chainer.as_variable(y) for y in _as_tuple(self.function(*xs))]
        total = [F.sum(F.sin(y)) for y in ys if y.requires_grad]
        if total:
            sum(total).backward()
        return [y.array for y in ys]

    def state(self):
        return state_of(self.model)


@pytest.mark.parametrize('name, call', CALLS + RANDOM, ids=[n for n, _ in CALLS + RANDOM])
def test_functions(name, call):
    function, *arrays = call
    arrays = [np.asarray(a) for a in arrays]
    pair = Pair(lambda: Call(function, arrays))
    sent = [array(a.astype('f') if a.dtype.kind == 'f' else a) for a in arrays]
    for i in range(6):
        for program in pair.programs:
            for param in program.model.params():
                param.array[...] = param.array * (1 - 0.01 * i)
        pair.run(*sent)
    _check(pair.function, WITHOUT_PLANS.get(name))


MODELS = [pytest.param(name, make, inputs, id=name) for name, (make, _, inputs, _) in LINKS.items()]


class Model:
    def __init__(self, make):
        self.model = make()
        self.model.to_device(DEVICE)
        self.optimizer = optimizers.MomentumSGD(0.01).setup(self.model)

    def step(self, *arrays):
        ys = [y for y in _as_tuple(self.model(*arrays)) if isinstance(y, chainer.Variable)]
        self.model.cleargrads()
        total = [F.sum(F.sin(y)) for y in ys if y.requires_grad]
        if total:
            sum(total).backward()
            for y in ys:
                y.unchain_backward()
        self.optimizer.update()
        return [y.array for y in ys]

    def state(self):
        return state_of(self.model, self.optimizer)


@pytest.mark.parametrize('name, make, inputs', MODELS)
@pytest.mark.parametrize('train', [True, False])
def test_links(name, make, inputs, train):
    pair = Pair(lambda: Model(make))
    sent = _send(inputs)
    with chainer.using_config('train', train):
        for _ in range(7):
            pair.run(*sent)
    _check(pair.function, LINKS_WITHOUT_PLANS.get(name))


def _send(value):
    if isinstance(value, (list, tuple)):
        return type(value)([_send(v) for v in value])
    return array(value) if isinstance(value, np.ndarray) else value


def test_reasons_are_needed():
    """Every function and link without a plan is one of the tables."""
    assert WITHOUT_PLANS.keys() <= ROWS.keys()
    assert LINKS_WITHOUT_PLANS.keys() <= LINKS.keys()
