"""Every function and link under ``chainer.compile``: forward and backward, bit by bit."""

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
#: Functions some of whose calls here make no plan: they read values or data of NumPy.
WITHOUT_PLANS = frozenset(
    """
    accuracy argmax_crf1d as_strided batch_matmul batch_renormalization binary_accuracy
    black_out classification_summary connectionist_temporal_classification crf1d cumprod
    decorrelated_batch_normalization decov deformable_convolution_2d_sampler
    discriminative_margin_based_clustering_loss dropout f1_score fbeta_score fft
    fixed_batch_renormalization gaussian get_item gumbel_softmax hinge ifft
    negative_sampling permutate polygamma precision recall repeat resize_images
    roi_average_align_2d roi_average_pooling_2d roi_max_align_2d roi_max_pooling_2d
    roi_pooling_2d rrelu scatter_add select_item sigmoid_cross_entropy
    simplified_dropconnect softmax_cross_entropy sparse_matmul spatial_transformer_grid
    spatial_transformer_sampler transpose_sequence upsampling_2d where zeta zoneout
    """.split()
)
if IS_CUDA:  # where its row copies to another backend
    WITHOUT_PLANS |= {'copy'}
#: The same for links.
LINKS_WITHOUT_PLANS = frozenset(
    """
    BinaryHierarchicalSoftmax BlackOut DecorrelatedBatchNormalization DeformableConvolution2D
    NegativeSampling StatefulZoneoutLSTM
    NStepBiGRU NStepBiLSTM NStepBiRNNReLU NStepBiRNNTanh NStepGRU NStepLSTM NStepRNNReLU NStepRNNTanh
    """.split()
)


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
    assert (pair.function.replays > 0) or name in WITHOUT_PLANS, pair.function.report()


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
    assert (pair.function.replays > 0) or name in LINKS_WITHOUT_PLANS, pair.function.report()


def _send(value):
    if isinstance(value, (list, tuple)):
        return type(value)([_send(v) for v in value])
    return array(value) if isinstance(value, np.ndarray) else value
