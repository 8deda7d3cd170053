import math
import os
import sys

import numpy as np
import pytest
from PIL import Image

import chainer
from chainer import functions as F, links as L
from chainer.dataset import download
from chainer.links.model.vision import _image_model, googlenet, resnet, vgg

MODULES = {
    vgg: (103.939, 116.779, 123.68),
    resnet: (103.063, 115.903, 123.152),
    googlenet: (104.0, 117.0, 123.0),
}


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


@pytest.fixture
def dataset_root(tmp_path, monkeypatch):
    monkeypatch.setattr(download, '_dataset_root', str(tmp_path))
    return tmp_path / 'pfnet/chainer/models'


@pytest.mark.parametrize('module', MODULES, ids=lambda m: m.__name__.rpartition('.')[2])
@pytest.mark.parametrize(
    'image',
    [
        'pil',
        np.random.RandomState(0).randint(0, 256, (5, 4, 3)).astype('u1'),
        np.random.RandomState(0).randint(0, 256, (3, 5, 4)).astype('f'),
        np.random.RandomState(0).randint(0, 256, (5, 4)).astype('f'),
        np.random.RandomState(0).randint(0, 256, (1, 5, 4)).astype('f'),
    ],
    ids=['pil', 'hwc', 'chw', 'hw', '1hw'],
)
def test_prepare(module, image):
    mean = np.array(MODULES[module], 'f')[:, None, None]
    if isinstance(image, str):
        image = Image.fromarray(np.random.RandomState(0).randint(0, 256, (5, 4, 3)).astype('u1'))
    rgb = np.asarray(image)
    if rgb.ndim == 3 and rgb.shape[0] == 1:
        rgb = rgb[0]
    if rgb.ndim == 2:
        rgb = np.stack([rgb] * 3)
    if rgb.shape[2] == 3:
        rgb = rgb.transpose(2, 0, 1)
    y = module.prepare(image, size=None)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, rgb[::-1] - mean, atol=1e-4)
    assert module.prepare(image).shape == (3, 224, 224)
    assert module.prepare(image, (8, 6)).shape == (3, 6, 8)
    with chainer.using_config('dtype', chainer.mixed16):
        assert module.prepare(image).dtype == np.float16


def test_prepare_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, 'PIL', None)
    with pytest.raises(ImportError, match='Install Pillow'):
        vgg.prepare(np.zeros((4, 4, 3)))


class Small(_image_model.ImageModel):
    """Mean colors, their softmax, and a branch from the former."""

    _default_layer = 'mean'
    _prepare = staticmethod(vgg.prepare)
    _branches = {'double': 'mean'}

    @property
    def functions(self):
        return {
            'mean': [lambda x: F.average(x, (2, 3)), F.identity],
            'prob': [F.softmax],
            'double': [lambda x: 2 * x],
        }


def images():
    rng = np.random.RandomState(0)
    return [rng.randint(0, 256, (5, 4, 3)).astype('u1') for _ in range(2)]


def test_layers():
    model = Small()
    assert model.available_layers == ['mean', 'prob', 'double']
    x = np.random.uniform(-1, 1, (2, 3, 4, 4)).astype('f')
    mean = x.mean((2, 3))
    assert list(model(x)) == ['prob']
    ys = model(x, ['double', 'mean'])
    assert sorted(ys) == ['double', 'mean']
    np.testing.assert_allclose(ys['mean'].array, mean, atol=1e-6)
    np.testing.assert_allclose(ys['double'].array, 2 * mean, atol=1e-6)
    assert model(x, []) == {}
    with pytest.raises(ValueError, match="unknown layer.*'fc9'.*'prob'"):
        model(x, ['fc9', 'prob'])
    with pytest.raises(ValueError, match='using_config'):
        model(x, test=True)
    with pytest.raises(TypeError, match='layer'):
        model(x, layer='prob')


def test_extract():
    model = Small()
    ys = model.extract(images())
    assert list(ys) == ['mean']
    expected = [vgg.prepare(image).mean((1, 2), 'd') for image in images()]
    # NumPy adds 50,176 elements one by one, since the channels of an image file come last.
    np.testing.assert_allclose(ys['mean'].array, expected, rtol=3e-3)
    ys = model.extract(images(), ['prob'], size=(8, 6))
    assert ys['prob'].shape == (2, 3)
    for name in 'test', 'train', 'volatile':
        with pytest.raises(ValueError, match=name):
            model.extract(images(), **{name: True})


@pytest.mark.parametrize('oversample', [False, True])
def test_predict(oversample):
    model = Small()
    y = model.predict(images(), oversample=oversample)
    starts = [(16, 16)]
    if oversample:
        starts = [(0, 0), (0, 32), (32, 0), (32, 32), (16, 16)]
    for p, image in zip(y.array, images()):
        x = vgg.prepare(image, (256, 256))
        crops = np.array([x[:, i : i + 224, j : j + 224].mean((1, 2)) for i, j in starts])
        np.testing.assert_allclose(p, F.softmax(crops).array.mean(0), atol=1e-4)
    assert y.creator is None


@pytest.mark.parametrize(
    'cls, count, n_convolutions', [(L.VGG16Layers, 138357544, 13), (L.VGG19Layers, 143667240, 16)]
)
def test_vgg(cls, count, n_convolutions, no_memory):
    model = cls(pretrained_model=None)
    assert model.count_params() == count
    layers = model.available_layers
    assert layers[:3] == ['conv1_1', 'conv1_2', 'pool1']
    assert layers[-5:] == ['pool5', 'fc6', 'fc7', 'fc8', 'prob']
    assert len([name for name in layers if name.startswith('conv')]) == n_convolutions
    channels = 3
    for name in layers:
        if name.startswith('conv'):
            assert model[name].W.shape[1:] == (channels, 3, 3)
            channels = model[name].W.shape[0]
    assert model.functions['fc6'] == [model.fc6, F.relu, F.dropout]


@pytest.mark.parametrize(
    'cls, count',
    [(L.ResNet50Layers, 25557096), (L.ResNet101Layers, 44549224), (L.ResNet152Layers, 60192872)],
)
def test_resnet(cls, count, no_memory):
    model = cls(pretrained_model=None)
    assert model.count_params() == count
    assert model.available_layers == [
        'conv1',
        'pool1',
        'res2',
        'res3',
        'res4',
        'res5',
        'pool5',
        'fc6',
        'prob',
    ]


def test_googlenet(no_memory):
    model = L.GoogLeNet(pretrained_model=None)
    assert model.count_params() == 13378280
    assert model.available_layers == [
        'conv1',
        'pool1',
        'conv2_reduce',
        'conv2',
        'pool2',
        'inception_3a',
        'inception_3b',
        'pool3',
        'inception_4a',
        'inception_4b',
        'inception_4c',
        'inception_4d',
        'inception_4e',
        'pool4',
        'inception_5a',
        'inception_5b',
        'pool5',
        'loss3_fc',
        'prob',
        'loss1_fc2',
        'loss2_fc2',
    ]


@pytest.mark.slow
def test_googlenet_forward():
    model = L.GoogLeNet(pretrained_model=None)
    layers = ['inception_3b', 'pool5', 'prob', 'loss1_fc2', 'loss2_fc2']
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        ys = model.extract(images()[:1], layers)
    assert {name: ys[name].shape[1:] for name in layers} == {
        'inception_3b': (480, 28, 28),
        'pool5': (1024, 1, 1),
        'prob': (1000,),
        'loss1_fc2': (1000,),
        'loss2_fc2': (1000,),
    }


@pytest.mark.slow
def test_resnet_forward():
    model = L.ResNet50Layers(pretrained_model=None)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        ys = model.extract(images()[:1], ['res3', 'pool5', 'prob'], size=(64, 64))
    assert [y.shape[1:] for y in ys.values()] == [(512, 8, 8), (2048,), (1000,)]


@pytest.mark.parametrize('fb, strides', [(False, [(2, 2), (1, 1)]), (True, [(1, 1), (2, 2)])])
def test_building_block(fb, strides):
    block = resnet.BuildingBlock(3, 4, 2, 8, 2, downsample_fb=fb)
    x = np.random.uniform(-1, 1, (2, 4, 6, 6)).astype('f')
    y = block(x)
    assert y.shape == (2, 8, 3, 3) and (y.array >= 0).all()
    assert [block.a.conv1.stride, block.a.conv2.stride] == strides
    assert block.a.conv4.stride == (2, 2) and not hasattr(block.b1, 'conv4')
    np.testing.assert_array_equal(block.b2(block.b1(block.a(x))).array, y.array)
    h = F.relu(block.b1.bn1(block.b1.conv1(y)))
    h = F.relu(block.b1.bn2(block.b1.conv2(h)))
    h = block.b1.bn3(block.b1.conv3(h))
    np.testing.assert_array_equal(block.b1(y).array, F.relu(h + y).array)


def test_building_block_arguments():
    with pytest.warns(DeprecationWarning, match='n_layers'):
        block = resnet.BuildingBlock(
            n_layer=2, in_channels=4, mid_channels=2, out_channels=8, stride=1
        )
    assert sorted(child.name for child in block.children()) == ['a', 'b1']
    with pytest.raises(TypeError, match='strides'):
        resnet.BuildingBlock(2, 4, 2, 8, strides=1)


@pytest.mark.parametrize(
    'make', [lambda: resnet.ResNetLayers(None, 18), lambda: vgg.VGGLayers(None, 11)]
)
def test_unknown_depth(make):
    with pytest.raises(ValueError, match='n_layers'):
        make()


@pytest.mark.parametrize(
    'make',
    [
        L.ResNet50Layers,
        L.ResNet101Layers,
        L.ResNet152Layers,
        lambda: L.ResNet50Layers('other.caffemodel'),
    ],
)
def test_resnet_without_caffemodel(make, dataset_root, no_memory):
    with pytest.raises(OSError, match='place it on .*caffemodel'):
        make()
    assert not any(name.endswith('.npz') for name in os.listdir(dataset_root))


@pytest.mark.parametrize('make', [L.VGG16Layers, L.VGG19Layers, L.GoogLeNet])
def test_auto_downloads_and_converts(make, dataset_root, no_memory, monkeypatch):
    urls, loaded = [], []

    def cached_download(url, *, checksum):
        assert checksum.startswith('sha256:')
        urls.append(url)
        return 'the.caffemodel'

    monkeypatch.setattr(download, 'cached_download', cached_download)

    def convert(cls, source, target):
        assert source == 'the.caffemodel'
        with open(target, 'w') as f:
            f.write('converted')

    def load(path, model):
        with open(path) as f:
            loaded.append(f.read())

    monkeypatch.setattr(vgg.VGGLayers, 'convert_caffemodel_to_npz', classmethod(convert))
    monkeypatch.setattr(googlenet.GoogLeNet, 'convert_caffemodel_to_npz', classmethod(convert))
    monkeypatch.setattr(_image_model.npz, 'load_npz', load)
    make()
    make()  # from the cache
    assert len(urls) == 1 and urls[0].endswith('.caffemodel')
    assert loaded == ['converted'] * 2
    assert any(name.endswith('.npz') for name in os.listdir(dataset_root))


def test_pretrained_model_is_loaded(tmp_path, no_memory, monkeypatch):
    loaded = []
    monkeypatch.setattr(
        chainer.serializers.npz, 'load_npz', lambda path, model: loaded.append((path, model))
    )
    models = [cls('file.npz') for cls in (L.VGG16Layers, L.GoogLeNet, L.ResNet50Layers)]
    assert loaded == [('file.npz', model) for model in models]


def record_names(fake_caffe, names):
    class Source:
        def __init__(self, path):
            assert path == 'in.caffemodel'

        def __getitem__(self, name):
            names.append(name)
            return fake_caffe(name)

    return Source


@pytest.mark.parametrize(
    'n_layers, last', [(50, 'res4f_branch2c'), (101, 'res4b22_branch2c'), (152, 'res4b35_branch2c')]
)
def test_resnet_conversion(n_layers, last, no_memory, monkeypatch):
    names, copied, saved = [], [], []

    class Layer:
        W = b = avg_mean = avg_var = 1

        @property
        def bias(self):
            return self

    monkeypatch.setattr(
        'chainer.links.caffe.caffe_function.CaffeFunction',
        record_names(lambda name: Layer(), names),
    )
    monkeypatch.setattr(chainer.Parameter, 'copydata', lambda self, source: copied.append(id(self)))
    monkeypatch.setattr(
        chainer.Link, 'copyparams', lambda self, source: copied.extend(id(p) for p in self.params())
    )
    monkeypatch.setattr(
        chainer.serializers.npz,
        'save_npz',
        lambda path, model, compression: saved.append((path, model)),
    )
    resnet.ResNetLayers.convert_caffemodel_to_npz('in.caffemodel', 'out.npz', n_layers)
    ((path, model),) = saved
    assert path == 'out.npz'
    # Everything is copied once.
    assert sorted(copied) == sorted(id(p) for p in model.params())
    for link in model.links():
        if isinstance(link, L.BatchNormalization):
            assert (link.avg_mean == 1).all() and (link.avg_var == 1).all()
    assert {
        'conv1',
        'bn_conv1',
        'scale_conv1',
        'res2a_branch1',
        'bn5c_branch2b',
        'scale3a_branch2a',
        'fc1000',
        last,
    } <= set(names)
    assert len([n for n in set(names) if n.startswith('res')]) == n_layers - 2 + 4


def test_googlenet_conversion(no_memory, monkeypatch):
    names, copied, saved = [], [], []
    monkeypatch.setattr(
        'chainer.links.caffe.caffe_function.CaffeFunction', record_names(lambda name: name, names)
    )
    monkeypatch.setattr(
        chainer.Link, 'copyparams', lambda self, source: copied.extend(id(p) for p in self.params())
    )
    monkeypatch.setattr(
        chainer.serializers.npz, 'save_npz', lambda path, model, compression: saved.append(model)
    )
    L.GoogLeNet.convert_caffemodel_to_npz('in.caffemodel', 'out.npz')
    assert sorted(copied) == sorted(id(p) for p in saved[0].params())
    assert {
        'conv1/7x7_s2',
        'conv2/3x3_reduce',
        'inception_4d/pool_proj',
        'loss2/conv',
        'loss3/classifier',
    } <= set(names)
    assert len(names) == len(set(names)) == 3 + 9 * 6 + 7


def test_vgg_conversion(monkeypatch, tmp_path):
    source = chainer.Chain(conv1_1=L.Linear(2, 3))
    monkeypatch.setattr('chainer.links.caffe.caffe_function.CaffeFunction', lambda path: source)
    L.VGG16Layers.convert_caffemodel_to_npz('in.caffemodel', tmp_path / 'out.npz')
    with np.load(tmp_path / 'out.npz') as saved:
        np.testing.assert_array_equal(saved['conv1_1/W'], source.conv1_1.W.array)
