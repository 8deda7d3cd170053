"""Training in ``mixed_bfloat16``: data and weights in bfloat16, updates and statistics in float32."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

ml_dtypes = pytest.importorskip('ml_dtypes')
# NumPy itself multiplies no matrices of bfloat16; the kernels of ChainerX do.
pytestmark = pytest.mark.chainerx
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
needs_chainerx = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
DEVICES = ['@numpy', pytest.param('native:0', marks=needs_chainerx)]


def test_dtype():
    with chainer.using_config('dtype', 'mixed_bfloat16'):
        assert chainer.get_dtype() == BFLOAT16
        assert chainer.get_dtype(map_mixed16=np.float32) == np.float32
        assert chainer.get_dtype(map_mixed16=np.float16) == BFLOAT16
        assert chainer.get_dtype('float64') == np.float64
    assert chainer.get_dtype('bfloat16') == BFLOAT16
    with chainer.using_config('dtype', 'bfloat16'):
        assert L.Linear(2, 3).W.dtype == BFLOAT16
    with pytest.raises(TypeError, match='mixed'), chainer.using_config('dtype', 'mixed_float'):
        pass


class Mlp(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(64, 40)
            self.bn = L.BatchNormalization(40)
            self.l2 = L.Linear(40, 10)

    def forward(self, x):
        return self.l2(F.relu(self.bn(self.l1(x))))


class Cnn(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 8, 3, pad=1)
            self.bn = L.BatchNormalization(8)
            self.c2 = L.Convolution2D(8, 8, 3, pad=1)
            self.l = L.Linear(8, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn(self.c1(x.reshape(-1, 1, 8, 8)))), 2)
        return self.l(F.average(F.relu(self.c2(h)), axis=(2, 3)))


class Transformer(chainer.Chain):
    """Rows of an image are words."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.Linear(8, 16)
            self.place = L.EmbedID(8, 16)
            self.norm = L.LayerNormalization(16)
            self.qkv = L.Linear(16, 48)
            self.mlp = L.Linear(16, 32)
            self.out = L.Linear(32, 16)
            self.last = L.Linear(16, 10)

    def forward(self, x):
        n = len(x)
        places = self.xp.arange(8, dtype='int32')
        h = self.embed(x.reshape(n, 8, 8), n_batch_axes=2)
        h = h + F.broadcast_to(self.place(places)[None], h.shape)
        z = self.norm(h.reshape(n * 8, 16)).reshape(n, 8, 16)
        qkv = self.qkv(z, n_batch_axes=2).reshape(n, 8, 3, 4, 4).transpose(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        h = h + a.transpose(0, 2, 1, 3).reshape(n, 8, 16)
        h = h + self.out(F.gelu(self.mlp(h, n_batch_axes=2)), n_batch_axes=2)
        return self.last(F.mean(h, axis=1))


def train(kind, dtype, device, n_updates=40):
    np.random.seed(0)
    with chainer.using_config('dtype', dtype):
        model = kind()
        model.to_device(device)
        optimizer = chainer.optimizers.Adam(1e-2).setup(model)
        images, labels = chainer.dataset.concat_examples(
            chainer.datasets.get_digits(dtype=np.float32)[0][:1200]
        )
        losses = []
        for i in range(n_updates):
            part = slice(100 * (i % 12), 100 * (i % 12) + 100)
            x = model.device.send(images[part].reshape(100, 64)).astype(chainer.get_dtype())
            t = model.device.send(labels[part])
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            losses.append(float(loss.array))
    return model, losses


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('kind', [Mlp, Cnn, Transformer])
def test_trains_as_float32(kind, device):
    model, losses = train(kind, 'mixed_bfloat16', device)
    _, expected = train(kind, 'float32', device)
    assert abs(np.mean(losses) / np.mean(expected) - 1) < 0.01
    assert losses[-1] < losses[0] - 0.5
    for name, param in model.namedparams():
        wide = '/bn/' in name
        assert param.dtype == ('float32' if wide else BFLOAT16), name
        master = param.update_rule._fp32_param
        assert (master is None) == wide
        if not wide:
            assert master.dtype == np.float32
            values = chainer.get_device('@numpy').send(param.array)
            rounded = chainer.get_device('@numpy').send(master.array).astype(BFLOAT16)
            np.testing.assert_array_equal(values, rounded)


FORMATS = [
    (chainer.serializers.save_npz, chainer.serializers.load_npz),
    (chainer.serializers.save_hdf5, chainer.serializers.load_hdf5),
]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('save, load', FORMATS, ids=['npz', 'hdf5'])
def test_saves_as_float32(save, load, device, tmp_path):
    if save is chainer.serializers.save_hdf5:
        pytest.importorskip('h5py')
    model, _ = train(Mlp, 'mixed_bfloat16', device, n_updates=2)
    other, _ = train(Mlp, 'mixed_bfloat16', device, n_updates=1)
    save(tmp_path / 'model', model)
    load(tmp_path / 'model', other)
    for a, b in zip(model.params(), other.params(), strict=True):
        assert a.dtype == b.dtype
        assert bool((a.array == b.array).all())
    # A model of float32 reads it, too.
    single, _ = train(Mlp, 'float32', '@numpy', n_updates=1)
    load(tmp_path / 'model', single)
    values = chainer.get_device('@numpy').send(model.l1.W.array).astype('float32')
    np.testing.assert_array_equal(single.l1.W.array, values)


@needs_chainerx
def test_compiled_steps():
    """Master copies give parameters new arrays, so these are steps without them."""

    def run(is_compiled):
        np.random.seed(0)
        with chainer.using_config('dtype', 'bfloat16'):
            model = Mlp()
            model.to_device('native:0')
            optimizer = chainer.optimizers.Adam().setup(model)
            x = model.xp.array(np.random.rand(20, 64)).astype('bfloat16')
            t = model.xp.array(np.arange(20, dtype='int32') % 10)

            def step(x, t):
                loss = F.softmax_cross_entropy(model(x), t)
                model.cleargrads()
                loss.backward()
                optimizer.update()
                return loss

            f = chainer.compile(step) if is_compiled else step
            losses = [float(f(x, t).array) for _ in range(6)]
            if is_compiled:
                assert ' ran a plan' in str(f.report())
                assert ' 0 ran a plan' not in str(f.report())
            return losses

    assert run(True) == run(False)


@pytest.mark.parametrize('device', DEVICES)
def test_cast(device):
    x = chainer.Variable(chainer.get_device(device).send(np.array([1, 0.1], 'float32')))
    y = F.cast(x, 'bfloat16')
    assert y.dtype == BFLOAT16
    y.grad = y.array
    y.backward()
    assert x.grad.dtype == np.float32
    assert x.grad.tolist() == [1, 0.10009765625]
