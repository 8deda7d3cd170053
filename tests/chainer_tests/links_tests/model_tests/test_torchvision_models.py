"""Models with the weights of torchvision, beside formulas in NumPy with torchvision's names."""

import math

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers
from chainer.links.model.vision import torchvision as ours

BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def resnet_shapes(n_layers):
    """Shapes by names, as the documentation of torchvision's layers has them."""
    shapes = {}

    def add(convolution, normalization, n_out, n_in, size):
        shapes[f'{convolution}.weight'] = n_out, n_in, size, size
        for name in 'weight', 'bias', 'running_mean', 'running_var':
            shapes[f'{normalization}.{name}'] = (n_out,)
        shapes[f'{normalization}.num_batches_tracked'] = ()

    add('conv1', 'bn1', 64, 3, 7)
    n_in = 64
    for stage, n_blocks in enumerate(BLOCKS[n_layers], start=1):
        middle = 32 << stage
        for block in range(n_blocks):
            name = f'layer{stage}.{block}'
            add(f'{name}.conv1', f'{name}.bn1', middle, n_in, 1)
            add(f'{name}.conv2', f'{name}.bn2', middle, middle, 3)
            add(f'{name}.conv3', f'{name}.bn3', 4 * middle, middle, 1)
            if block == 0:
                add(f'{name}.downsample.0', f'{name}.downsample.1', 4 * middle, n_in, 1)
            n_in = 4 * middle
    return shapes | {'fc.weight': (1000, 2048), 'fc.bias': (1000,)}


def random_weights(shapes):
    rng = np.random.RandomState(0)
    weights = {}
    for name, shape in shapes.items():
        if name.endswith('tracked'):
            weights[name] = np.array(7)
        elif len(shape) == 1:
            weights[name] = rng.uniform(0.5, 1, shape).astype('f')
        else:
            weights[name] = (rng.randn(*shape) / math.sqrt(math.prod(shape[1:]))).astype('f')
    return weights


def convolve(x, w, stride=1):
    """Convolution with as much padding as keeps the size."""
    size = w.shape[2]
    pad = size // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    height, width = ((n - size) // stride + 1 for n in x.shape[2:])
    y = np.zeros((len(x), len(w), height, width))
    for i in range(size):
        for j in range(size):
            part = x[:, :, i : i + stride * height : stride, j : j + stride * width : stride]
            y += np.einsum('nchw,oc->nohw', part[:, :, :height, :width], w[:, :, i, j])
    return y


def normalize(x, w, name):
    mean, var, scale, shift = (
        w[f'{name}.{part}'].astype('d')[:, None, None]
        for part in ('running_mean', 'running_var', 'weight', 'bias')
    )
    return (x - mean) / np.sqrt(var + 1e-5) * scale + shift


def pool(x):
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    height, width = ((n - 3) // 2 + 1 for n in x.shape[2:])
    parts = [
        x[:, :, i : i + 2 * height : 2, j : j + 2 * width : 2][:, :, :height, :width]
        for i in range(3)
        for j in range(3)
    ]
    return np.max(parts, axis=0)


def relu(x):
    return np.maximum(x, 0)


def compute_resnet(w, x):
    h = pool(relu(normalize(convolve(x, w['conv1.weight'], 2), w, 'bn1')))
    for stage, n_blocks in enumerate(BLOCKS[50], start=1):
        for block in range(n_blocks):
            name = f'layer{stage}.{block}'
            stride = 2 if block == 0 and stage > 1 else 1
            y = relu(normalize(convolve(h, w[f'{name}.conv1.weight']), w, f'{name}.bn1'))
            y = relu(normalize(convolve(y, w[f'{name}.conv2.weight'], stride), w, f'{name}.bn2'))
            y = normalize(convolve(y, w[f'{name}.conv3.weight']), w, f'{name}.bn3')
            if block == 0:
                h = convolve(h, w[f'{name}.downsample.0.weight'], stride)
                h = normalize(h, w, f'{name}.downsample.1')
            h = relu(y + h)
    return h.mean((2, 3)) @ w['fc.weight'].T + w['fc.bias']


def compute(model, x, layer='fc6'):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return model(x, [layer])[layer].array


def test_resnet(tmp_path):
    weights = random_weights(resnet_shapes(50))
    serializers.save_safetensors(tmp_path / 'file', weights)
    model = L.TorchvisionResNet(50, initialW=0)
    model.load_weights(tmp_path / 'file')
    x = np.random.RandomState(1).randn(2, 3, 39, 32).astype('f')
    expected = compute_resnet(weights, x.astype('d'))
    actual = compute(model, x)
    np.testing.assert_allclose(actual, expected, atol=1e-5 * abs(expected).max())

    model.save_pretrained(tmp_path)
    with serializers.open_weights(tmp_path) as tensors:
        assert {name: array.shape for name, array in tensors.items()} == resnet_shapes(50)
        for name, array in tensors.items():
            np.testing.assert_array_equal(array, weights[name], name)
    other = L.TorchvisionResNet.from_pretrained(tmp_path)
    np.testing.assert_array_equal(compute(other, x), actual)
    with chainer.using_config('train', False):
        assert model.extract([np.zeros((3, 32, 32))], size=None)['pool5'].shape == (1, 2048)

    del weights['bn1.num_batches_tracked']  # files of old releases
    other.bn1.N = 5
    other._table().load(weights, other)
    assert other.bn1.N == 5


@pytest.fixture
def no_memory(monkeypatch):
    """Large parameters are views of one zero: building a model takes no time."""
    real = chainer.initializers.generate_array

    def generate_array(initializer, shape, xp, dtype=None, device=None):
        size = math.prod(shape if isinstance(shape, tuple) else (shape,))
        if size < 5000:
            return real(initializer, shape, xp, dtype, device)
        return np.broadcast_to(np.float32(0), shape)

    monkeypatch.setattr(chainer.initializers, 'generate_array', generate_array)


@pytest.mark.parametrize('n_layers', [50, 101, 152])
def test_names_of_resnet(n_layers, no_memory):
    model = L.TorchvisionResNet(n_layers)
    shapes = {name: array.shape for name, array in model._table().export(model).items()}
    assert shapes == resnet_shapes(n_layers)
    assert {link.eps for link in model.links() if isinstance(link, L.BatchNormalization)} == {1e-5}


CONVOLUTIONS = {
    16: [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28],
    19: [0, 2, 5, 7, 10, 12, 14, 16, 19, 21, 23, 25, 28, 30, 32, 34],
}
CHANNELS = {
    16: [3, 64, 64, 128, 128, *[256] * 3, *[512] * 6],
    19: [3, 64, 64, 128, 128, *[256] * 4, *[512] * 8],
}


@pytest.mark.parametrize('n_layers', [16, 19])
def test_names_of_vgg(n_layers, no_memory):
    model = L.TorchvisionVGG(n_layers, n_classes=7)
    expected = {}
    sizes = zip(CHANNELS[n_layers], CHANNELS[n_layers][1:])
    for i, (n_in, n_out) in zip(CONVOLUTIONS[n_layers], sizes, strict=True):
        expected[f'features.{i}.weight'] = n_out, n_in, 3, 3
        expected[f'features.{i}.bias'] = (n_out,)
    for i, shape in {0: (4096, 25088), 3: (4096, 4096), 6: (7, 4096)}.items():
        expected[f'classifier.{i}.weight'] = shape
        expected[f'classifier.{i}.bias'] = shape[:1]
    exported = model._table().export(model)
    assert {name: array.shape for name, array in exported.items()} == expected
    # Each name belongs to the convolution at its place: layers in the order of computation
    names = [f'features.{i}.bias' for i in CONVOLUTIONS[n_layers]]
    layers = [name for name in model.functions if name.startswith('conv')]
    for name, layer in zip(names, layers, strict=True):
        assert exported[name] is model[layer].b.array


def test_prepare():
    image = np.random.RandomState(0).randint(0, 256, (5, 4, 3)).astype('u1')
    x = ours.prepare(image, None)
    assert x.dtype == np.float32
    expected = (image / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(x, expected.transpose(2, 0, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(('cls', 'n_layers'), [(L.TorchvisionResNet, 18), (L.TorchvisionVGG, 11)])
def test_unknown_depths(cls, n_layers):
    with pytest.raises(ValueError, match=f'n_layers argument should be .* but {n_layers}'):
        cls(n_layers)


@pytest.mark.parametrize('name', ['resnet50', 'vgg16'])
def test_torchvision(name, tmp_path):
    torchvision = pytest.importorskip('torchvision')
    import torch

    torch.manual_seed(0)
    theirs = getattr(torchvision.models, name)()
    x = torch.randn(2, 3, 224, 224)
    model = L.TorchvisionResNet(50, initialW=0) if name == 'resnet50' else L.TorchvisionVGG(16)
    with torch.no_grad():
        theirs(torch.randn(2, 3, 224, 224))  # running averages of its own
        torch.save(theirs.state_dict(), tmp_path / 'file')
        expected = theirs.eval()(x).numpy()
    model.load_weights(tmp_path / 'file')
    layer = 'fc6' if name == 'resnet50' else 'fc8'
    np.testing.assert_allclose(compute(model, x.numpy(), layer), expected, atol=1e-5)
