"""How often a step of training on CuPy's arrays calls CuPy, where ChainerX's CUDA kernels run it."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import cuda
from tests.helpers.cuda_emulation import is_emulated
from tests.helpers.cupy_calls import count_calls

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.gpu,
    pytest.mark.skipif(not is_emulated(), reason='counts calls of the stand-in for CuPy'),
]

# An output of a kernel is an array of CuPy: its memory, a pointer to that, and the array.
OUTPUT = 3
# A function asks for CuPy's stream, and once more for its gradient.
FORWARD = BACKWARD = 1
# A function on arrays, such as a view, makes the device current, computes, and leaves it.
ON_ARRAYS = 3
# The gradient that a walk starts from, on its device.
START = 4
# All parameters at once: the device, left again, and the stream.
UPDATE = 3


class MLP(chainer.Sequential):
    shape = (5, 4)

    def __init__(self):
        super().__init__(L.Linear(4, 6), F.relu, L.Linear(6, 3))

    # With the loss; `x` needs no gradient.
    forward_calls = 4 * (FORWARD + OUTPUT)
    backward_calls = START + 4 * BACKWARD + (2 + 3 + 1 + 1) * OUTPUT


class CNN(chainer.Chain):
    shape = (2, 3, 5, 5)

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 3, 3, pad=1, nobias=True)
            self.norm = L.BatchNormalization(3)
            self.fc = L.Linear(75, 3)

    def forward(self, x):
        return self.fc(F.relu(self.norm(self.conv(x)) + x))

    # The sum, which asks for the module, and the flattening run on arrays.
    forward_calls = 5 * (FORWARD + OUTPUT) + 2 * ON_ARRAYS + 1
    # The gradient of a sum is that of its result.
    backward_calls = START + 5 * BACKWARD + 9 * OUTPUT + 2 * ON_ARRAYS - 1


class Attention(chainer.Chain):
    shape = (2, 5, 4)

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.project = L.Linear(4, 4)
            self.fc = L.Linear(20, 3)

    def forward(self, x):
        h = self.project(x, n_batch_axes=2)
        return self.fc(F.scaled_dot_product_attention(h, h, h, is_causal=True))

    # Views before and after the projection, and before the last layer.
    forward_calls = 4 * (FORWARD + OUTPUT) + 3 * ON_ARRAYS
    # The gradients of queries, keys and values make two sums, on their device.
    backward_calls = START + 4 * BACKWARD + 9 * OUTPUT + 2 * ON_ARRAYS + 4


@pytest.mark.parametrize('optimizer', [chainer.optimizers.SGD, chainer.optimizers.Adam])
@pytest.mark.parametrize('model_class', [MLP, CNN, Attention])
def test_calls_of_a_step(model_class, optimizer):
    device = chainer.get_device('@cupy:0')
    model = model_class()
    model.to_device(device)
    x = device.send(np.random.RandomState(0).uniform(-1, 1, model.shape).astype('f'))
    t = device.send(np.zeros(len(x), 'i'))
    opt = optimizer().setup(model)
    opt.update(lambda: F.softmax_cross_entropy(model(x), t))  # which makes the states
    losses = []
    forward = count_calls(lambda: losses.append(F.softmax_cross_entropy(model(x), t)))
    model.cleargrads()
    backward = count_calls(losses[0].backward)
    update = count_calls(opt.update)
    assert forward.total() <= model.forward_calls, forward
    assert backward.total() <= model.backward_calls, backward
    assert update.total() <= UPDATE, update
    assert type(model.fc.W.grad if hasattr(model, 'fc') else model[0].W.grad) is cuda.ndarray
