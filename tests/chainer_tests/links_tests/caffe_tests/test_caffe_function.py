import pickle
import struct
import warnings

import numpy as np
import pytest

import chainer
from chainer import functions as F, links as L
from chainer.links.caffe import CaffeFunction, _protobuf, caffe_function


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


# An encoder of protocol buffers: a message is a list of field numbers and values.


def varint(n):
    n &= (1 << 64) - 1
    out = b''
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def encode(*fields):
    out = b''
    for number, value in fields:
        if isinstance(value, bool) or isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack('<f', value)
        else:
            if isinstance(value, str):
                value = value.encode()
            elif isinstance(value, np.ndarray):
                value = value.tobytes()
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def blob(array):
    return encode((7, encode((1, b''.join(varint(n) for n in array.shape)))), (5, array.ravel()))


def old_blob(array):
    shape = (1,) * (4 - array.ndim) + array.shape
    return encode(*enumerate(shape, 1), (5, array.ravel()))


def layer(type_, name, bottom, top, blobs=(), param=None):
    """A layer of a new file; ``param`` is the number and the fields of its parameters."""
    return 100, encode(
        (1, name),
        (2, type_),
        *[(3, b) for b in bottom],
        *[(4, t) for t in top],
        *[(7, blob(b)) for b in blobs],
        *([(param[0], encode(*param[1:]))] if param else []),
    )


def old_layer(type_, name, bottom, top, blobs=(), param=None):
    return 2, encode(
        *[(2, b) for b in bottom],
        *[(3, t) for t in top],
        (4, name),
        (5, type_),
        *[(6, old_blob(b)) for b in blobs],
        *([(param[0], encode(*param[1:]))] if param else []),
    )


@pytest.fixture
def load(tmp_path):
    def load(*layers):
        path = tmp_path / 'net.caffemodel'
        path.write_bytes(encode((1, 'net'), *layers))
        return CaffeFunction(str(path))

    return load


W = f(4, 2, 3, 2)
b = f(4)
X = f(2, 4, 6, 5)
M = f(4, 6)
IMAGE_INPUTS = (X,)

# Layer without its name and blobs' names, inputs, expected outputs.
LAYERS = {
    'Convolution': (
        ('Convolution', [W[:, :, :, :1].repeat(2, 1), b], (106, (4, 3), (4, 1), (3, 1), (6, 2))),
        (X,),
        lambda x: F.convolution_2d(x, W[:, :, :, :1].repeat(2, 1), b, 2, 1),
    ),
    'Convolution-groups': (
        ('Convolution', [W, b], (106, (11, 3), (12, 2), (5, 2), (9, 1), (10, 0), (13, 2), (14, 1))),
        (X,),
        lambda x: F.convolution_2d(x, W, b, (2, 1), (1, 0), groups=2),
    ),
    'Convolution-dilation': (
        ('Convolution', [W.repeat(2, 1)], (106, (2, False), (4, 3), (4, 2), (18, 2))),
        (X,),
        lambda x: F.convolution_2d(x, W.repeat(2, 1), dilate=2),
    ),
    'Deconvolution-groups': (
        ('Deconvolution', [W, b], (106, (4, 3), (4, 2), (5, 2), (6, 2))),
        (X,),
        lambda x: F.deconvolution_2d(x, W, b, 2, groups=2),
    ),
    'InnerProduct': (
        ('InnerProduct', [M, b], (117, (1, 4))),
        (f(2, 6),),
        lambda x: F.linear(x, M, b),
    ),
    'TanH': (('TanH', []), (X,), F.tanh),
    'InnerProduct-transpose': (
        ('InnerProduct', [M.T.copy()], (117, (2, False), (6, True))),
        (f(2, 6),),
        lambda x: F.linear(x, M),
    ),
    'Concat': (('Concat', [], (104, (2, 2))), (X, X), lambda x, y: F.concat((x, y), 2)),
    'Concat-old': (('Concat', [], (104, (1, 3))), (X, X), lambda x, y: F.concat((x, y), 3)),
    'Dropout': (('Dropout', [], (108, (1, 0.25))), (X,), lambda x: x),
    'Eltwise-prod': (('Eltwise', [], (110, (1, 0))), (X, -X), lambda x, y: x * y),
    'Eltwise-sum': (('Eltwise', []), (X, X), lambda x, y: x + y),
    'Eltwise-coeff': (
        ('Eltwise', [], (110, (1, 1), (2, 0.5), (2, -2.0))),
        (X, X),
        lambda x, y: 0.5 * x - 2 * y,
    ),
    'Eltwise-max': (('Eltwise', [], (110, (1, 2))), (X, -X), F.maximum),
    'LRN': (
        ('LRN', [], (118, (1, 3), (2, 0.5), (3, 0.25), (5, 2.0))),
        (X,),
        lambda x: F.local_response_normalization(x, 3, 2, 0.5 / 3, 0.25),
    ),
    'Pooling-max': (
        ('Pooling', [], (121, (2, 3), (3, 2), (4, 1))),
        (X,),
        lambda x: F.max_pooling_2d(x, 3, 2, 1),
    ),
    'Pooling-average': (
        ('Pooling', [], (121, (1, 1), (5, 3), (6, 2), (7, 2), (8, 1))),
        (X,),
        lambda x: F.average_pooling_2d(x, (3, 2), (2, 1)),
    ),
    'Pooling-global': (
        ('Pooling', [], (121, (1, 1), (12, True))),
        (X,),
        lambda x: F.average_pooling_2d(x, (6, 5), 1),
    ),
    'ReLU': (('ReLU', []), (X,), F.relu),
    'ReLU-slope': (('ReLU', [], (123, (1, 0.5))), (X,), lambda x: F.leaky_relu(x, 0.5)),
    'Reshape': (
        ('Reshape', [], (133, (1, encode((1, 0), (1, -1), (1, 5))))),
        (X,),
        lambda x: F.reshape(x, (2, 24, 5)),
    ),
    'Scale': (('Scale', [b], (142,)), (X,), lambda x: x * b[:, None, None]),
    'Scale-bias': (
        ('Scale', [b, b + 1], (142, (4, True))),
        (X,),
        lambda x: x * b[:, None, None] + (b + 1)[:, None, None],
    ),
    'Scale-two': (
        ('Scale', [b], (142, (1, 0), (4, True))),
        (M, M),
        lambda x, y: x * y + b[:, None],
    ),
    'Sigmoid': (('Sigmoid', []), (X,), F.sigmoid),
    'Softmax': (('Softmax', []), (X,), F.softmax),
    'SoftmaxWithLoss': (
        ('SoftmaxWithLoss', []),
        (M, np.array([0, 1, 5, 2], 'i')),
        F.softmax_cross_entropy,
    ),
}


@pytest.mark.parametrize('name', sorted(LAYERS))
def test_layers(name, load):
    (type_, blobs, *param), inputs, expected = LAYERS[name]
    bottom = [f'x{k}' for k in range(len(inputs))]
    net = load(layer(type_, 'l', bottom, ['y'], blobs, param[0] if param else None))
    with chainer.using_config('train', False):
        (y,) = net(dict(zip(bottom, inputs)), ['y'])
    e = chainer.as_array(expected(*inputs))
    assert chainer.as_array(y).dtype == np.float32
    np.testing.assert_allclose(chainer.as_array(y), e, rtol=1e-4, atol=1e-5)
    assert [child.name for child in net.children()] == (['l'] if blobs else [])


def test_grouped_filters_are_dense(load):
    net = load(layer('Convolution', 'l', ['x'], ['y'], [W, b], (106, (4, 3), (4, 2), (5, 2))))
    weight = net['l'].W.array
    assert weight.shape == (4, 4, 3, 2)
    np.testing.assert_array_equal(weight[:2, :2], W[:2])
    np.testing.assert_array_equal(weight[2:, 2:], W[2:])
    assert not weight[:2, 2:].any() and not weight[2:, :2].any()


@pytest.mark.parametrize('use_global_stats', [False, True])
@pytest.mark.parametrize('factor', [None, 2.0, 0.0])
def test_batch_normalization(use_global_stats, factor, load):
    mean, var = f(4), 1 + abs(f(4))
    blobs = [mean, var] + ([] if factor is None else [np.array([factor], 'f')])
    net = load(
        layer(
            'BatchNorm',
            'bn',
            ['x'],
            ['y'],
            blobs,
            (139, (1, use_global_stats), (2, 0.75), (3, 0.125)),
        )
    )
    bn = net['bn']
    scale = 1 if factor is None else 0.5 if factor else 0
    np.testing.assert_allclose(bn.avg_mean, mean * scale, rtol=1e-6)
    np.testing.assert_allclose(bn.avg_var, var * scale, rtol=1e-6)
    assert bn.decay == 0.75 and bn.eps == 0.125 and bn.gamma is bn.beta is None
    ones, zeros = np.ones(4, 'f'), np.zeros(4, 'f')
    if use_global_stats:
        expected = F.fixed_batch_normalization(X, ones, zeros, bn.avg_mean, bn.avg_var, 0.125)
    else:
        expected = F.batch_normalization(X, ones, zeros, eps=0.125)
    (y,) = net({'x': X}, ['y'])
    np.testing.assert_allclose(y.array, expected.array, atol=1e-5)


@pytest.mark.parametrize(
    'param, expected',
    [
        (None, [(2, 2, 6, 5), (2, 2, 6, 5)]),
        ((126, (3, 2), (2, 1)), [(2, 4, 1, 5), (2, 4, 5, 5)]),
        ((126, (1, 2)), [(2, 4, 3, 5), (2, 4, 3, 5)]),
    ],
)
def test_slice(param, expected, load):
    net = load(layer('Slice', 'l', ['x'], ['y', 'z'], (), param))
    assert [y.shape for y in net({'x': X}, ['y', 'z'])] == expected


def test_networks(load):
    net = load(
        layer('Data', 'data', [], ['x', 't']),
        layer('Split', 'split', ['x'], ['x1', 'x2']),
        layer('ReLU', 'relu', ['x1'], ['x1']),
        layer('InnerProduct', 'fc', ['x2'], ['h'], [M, b], (117, (1, 4))),
        layer('Sigmoid', 'sigmoid', ['h'], ['h']),
        layer('Eltwise', 'sum', ['h', 'u'], ['y']),
    )
    x, u = f(2, 6), f(2, 4)
    h = F.linear(x, M, b)
    (y,) = net({'x': x, 'u': u}, ['y'])
    np.testing.assert_allclose(y.array, (F.sigmoid(h) + u).array, rtol=1e-5)
    (y,) = net({'x': x, 'u': u}, ['y'], disable=['sigmoid'])
    np.testing.assert_allclose(y.array, (h + u).array, rtol=1e-5)
    # What cannot be computed is skipped.
    (h2,) = net(inputs={'x': x}, outputs=['h'])
    np.testing.assert_allclose(h2.array, F.sigmoid(h).array, rtol=1e-5)
    with pytest.raises(KeyError, match="'y'"):
        net({'x': x}, ['y'])
    with pytest.raises(ValueError, match='train'):
        net({'x': x}, ['h'], train=True)
    assert list(net.forwards) == ['relu', 'fc', 'sigmoid', 'sum']


def test_copies_use_their_own_parameters(load):
    net = load(layer('InnerProduct', 'fc', ['x'], ['y'], [M, b]))
    x = f(2, 6)
    for other in net.copy('copy'), pickle.loads(pickle.dumps(net)):
        other['fc'].W.array = M * 2
        (y,) = other({'x': x}, ['y'])
        np.testing.assert_allclose(y.array, F.linear(x, M * 2, b).array, rtol=1e-5)
    (y,) = net({'x': x}, ['y'])
    np.testing.assert_allclose(y.array, F.linear(x, M, b).array, rtol=1e-5)
    shared = net.copy('share')
    shared['fc'].b = chainer.Parameter(b * 0)
    (y,) = shared({'x': x}, ['y'])
    np.testing.assert_allclose(y.array, F.linear(x, M).array, rtol=1e-5)


def test_old_files(load):
    net = load(
        old_layer(5, 'data', [], ['x']),
        old_layer(4, 'conv', ['x'], ['h'], [W.repeat(2, 1), b], (10, (1, 4), (4, 3), (4, 2))),
        old_layer(18, 'relu', ['h'], ['h']),
        old_layer(6, 'drop', ['h'], ['h'], (), (12, (1, 0.5))),
        old_layer(17, 'pool', ['h'], ['p'], (), (19, (1, 0), (2, 2), (3, 2))),
        old_layer(14, 'fc', ['p'], ['y'], [f(3, 16)], (17, (2, False))),
    )
    with chainer.using_config('train', False):
        y, h = net({'x': X}, ['y', 'h'])
    e = F.relu(F.convolution_2d(X, W.repeat(2, 1), b))
    np.testing.assert_allclose(h.array, e.array, rtol=1e-5)
    e = F.linear(F.max_pooling_2d(e, 2, 2), net['fc'].W)
    np.testing.assert_allclose(y.array, e.array, rtol=1e-4, atol=1e-5)
    assert net['fc'].b is None


def test_unknown_layers_are_skipped(load):
    with pytest.warns(UserWarning, match='Skip the layer "l".*Mystery'):
        net = load(layer('Mystery', 'l', ['x'], ['y']), layer('ReLU', 'r', ['x'], ['z']))
    assert net({'x': X}, ['z'])[0].shape == X.shape


@pytest.mark.parametrize(
    'args, match',
    [
        (('InnerProduct', [M], (117, (2, False), (5, 2))), 'axis'),
        (('LRN', [], (118, (4, 1))), 'Within-channel'),
        (('Pooling', [], (121, (1, 2))), 'Stochastic'),
        (('Softmax', [], (125, (2, 2))), 'axis'),
        (('SoftmaxWithLoss', [], (125, (2, 2))), 'axis'),
        (('Eltwise', [], (110, (1, 3))), 'Operation'),
        (('Reshape', [], (133, (2, 1))), 'Reshape'),
        (('Convolution', [f(2, 3, 3)], (106, (2, False))), 'axes'),
    ],
)
def test_unsupported_arguments(args, match, load):
    type_, blobs, param = args
    with pytest.raises(RuntimeError, match=match):
        load(layer(type_, 'l', ['x'], ['y'], blobs, param))


@pytest.mark.parametrize(
    'args, match',
    [
        (('InnerProduct', [], (117, (2, False))), 'layer "l" has 0 blobs, but 1 are expected'),
        (('InnerProduct', [f(0, 3)], (117, (2, False))), 'layer "l" has an empty blob'),
        (('BatchNorm', [f(3), f(3), f(0)], None), 'layer "l" has an empty blob'),
        (('Convolution', [W, b], (106, (5, 0))), '4 filters cannot be in 0 groups'),
        (('Convolution', [W, b], (106, (5, 3))), '4 filters cannot be in 3 groups'),
        (('Deconvolution', [W, b], (106, (5, 1 << 40))), '4 filters cannot be in 1099511627776'),
    ],
)
def test_impossible_weights(args, match, load):
    with pytest.raises(ValueError, match=match):
        load(layer(args[0], 'l', ['x'], ['y'], *args[1:]))


def test_more_layers_can_be_registered(load, monkeypatch):
    monkeypatch.setitem(caffe_function._type_to_method, 'Square', None)  # to be taken out again

    @caffe_function._layer('Square', None)
    def setup(self, layer):
        self.forwards[layer.name] = F.square
        self._add_layer(layer)

    net = load(layer('Square', 'l', ['x'], ['y']))
    np.testing.assert_array_equal(net({'x': X}, ['y'])[0].array, X * X)


@pytest.mark.parametrize('array, old', [(f(4, 3, 2, 1), False), (f(4, 3, 2, 1), True)])
def test_sizes_of_blobs(array, old):
    message = caffe_function.caffe_pb.BlobProto()
    message.ParseFromString((old_blob if old else blob)(array))
    sizes = [
        get(message)
        for get in (
            caffe_function._get_num,
            caffe_function._get_channels,
            caffe_function._get_height,
            caffe_function._get_width,
        )
    ]
    assert tuple(sizes) == array.shape
    np.testing.assert_array_equal(caffe_function._get_array(message), array)


def test_messages_are_written(tmp_path):
    """The test writes a network with the names of Chainer 7 and of protoc's messages."""
    net = caffe_function.caffe_pb.NetParameter()
    net.name = 'net'
    data = net.layer.add()
    data.name, data.type = 'data', 'Input'
    data.top.append('x')
    data.input_param.shape.add().dim.extend([2, 6])
    fc = net.layer.add()
    fc.name, fc.type = 'fc', 'InnerProduct'
    fc.bottom.append('x')
    fc.top.extend(['y'])
    fc.inner_product_param.num_output = 4
    for array in M, b:
        blob = fc.blobs.add()
        blob.shape.dim.extend(array.shape)
        blob.data.extend(array.ravel().tolist())
    pool = net.layers.add()
    pool.type = caffe_function.caffe_pb.V1LayerParameter.POOLING
    pool.pooling_param.pool = caffe_function.caffe_pb.PoolingParameter.AVE
    assert pool.pooling_param.global_pooling is False  # reading a default adds no field
    assert not pool.HasField('concat_param') and pool.concat_param.axis == 1
    assert [pool.HasField(name) for name in ('pooling_param', 'concat_param', 'bottom')] == [
        1,
        0,
        0,
    ]
    encoded = net.SerializeToString()
    old = 2, encode((5, 17), (19, encode((1, 1))))
    new = layer('InnerProduct', 'fc', ['x'], ['y'], [M, b], (117, (1, 4)))
    shape = encode((1, 2), (1, 6))
    data = 100, encode((1, 'data'), (2, 'Input'), (4, 'x'), (143, encode((1, shape))))
    other = caffe_function.caffe_pb.NetParameter()
    other.name = 'replaced'
    other.ParseFromString(encode((1, 'net'), old, data, new))
    assert other.SerializeToString() == encoded
    np.testing.assert_array_equal(other.layer[1].blobs[0].data, M.ravel())

    path = tmp_path / 'net.caffemodel'
    path.write_bytes(encoded)
    x = f(2, 6)
    y = CaffeFunction(path)({'x': x}, ['y'])[0]
    np.testing.assert_allclose(y.array, x @ M.T + b, 1e-5, 1e-6)


def good_file():
    return encode((1, 'net'), layer('InnerProduct', 'fc', ['x'], ['y'], [M, b]))


def test_damaged_files(tmp_path):
    path = tmp_path / 'net.caffemodel'
    data = good_file()
    for size in range(1, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match='net.caffemodel'):
            CaffeFunction(path)
    path.write_bytes(b'')
    with pytest.raises(ValueError, match='no layers'):
        CaffeFunction(path)
    path.write_bytes(b'PK\x03\x04 some other file')
    with pytest.raises(ValueError, match='damaged'):
        CaffeFunction(path)
    with pytest.raises(FileNotFoundError):
        CaffeFunction(tmp_path / 'missing')


def test_flipped_bits(tmp_path):
    path = tmp_path / 'net.caffemodel'
    rng = np.random.RandomState(0)
    for _ in range(100):
        data = bytearray(good_file())
        data[rng.randint(40)] ^= 1 << rng.randint(8)
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            try:
                CaffeFunction(path)
            except ValueError:
                pass  # nothing else may escape


SCHEMA = _protobuf.Schema(
    """
A 1:i:int=7 2:b:bool=true 3:f:float=0.5 4:d:double 5:s:string 6:m:B 7:is:int* 8:fs:float* 9:ms:B*
B 1:i:int
""",
    {'B': {'ONE': 1}},
)


def read(data):
    message = SCHEMA.classes['A']()
    message.ParseFromString(data)
    return message


def test_protobuf_defaults():
    a = read(b'')
    assert (a.i, a.b, a.f, a.d, a.s, a.m.i) == (7, True, 0.5, 0.0, '', 0)
    # Lists of an absent field are the message's own.
    a.ms.append(1)
    assert a.ms == [1] and read(b'').ms == []
    assert not a.HasField('i') and a.m.ONE == 1
    with pytest.raises(AttributeError, match='unknown'):
        a.unknown  # noqa: B018


def test_protobuf_values():
    a = read(
        encode(
            (1, -3),
            (2, False),
            (3, 1.5),
            (5, 'é'),
            (6, encode((1, 300))),
            (7, b''.join(map(varint, (1, -1, 1 << 40)))),
            (7, 5),
            (8, f(3)),
            (8, 2.0),
            (9, encode((1, 1))),
            (9, encode((1, 2))),
            (20, 3),
            (21, 'skipped'),
            (22, 1.0),
        )
        + varint(4 << 3 | 1)
        + struct.pack('<d', 0.1),
    )
    assert (a.i, a.b, a.f, a.d, a.s, a.m.i) == (-3, False, 1.5, 0.1, 'é', 300)
    assert a.HasField('i') and getattr(a, 'is') == [1, -1, 1 << 40, 5]
    assert a.fs.shape == (4,) and a.fs[3] == 2
    assert [m.i for m in a.ms] == [1, 2]


@pytest.mark.parametrize(
    'data, match',
    [
        (b'\x08', 'truncated'),
        (b'\x08\x80', 'truncated'),
        (b'\x08' + b'\xff' * 11, 'too long'),
        (b'\x1d\0\0', 'truncated'),
        (b'\x2a\x05ab', 'truncated'),
        (b'\0\0', 'number zero'),
        (b'\x0b', 'wire type'),
        (b'\x0d\0\0\0\0', "'i'"),
        (b'\x28\1', "'s'"),
        (b'\x30\1', "'m'"),
        (b'\x18\1', "'f'"),
        (b'\x42\3abc', 'incomplete'),
        (b'\x0a\0', "'i' has no value"),
        (b'\x1a\0', "'f' has no value"),
        (b'\x2a\1\xff', 'utf-8'),
    ],
)
def test_protobuf_errors(data, match):
    with pytest.raises(ValueError, match=match):
        read(data)


def test_links_namespace():
    assert L.caffe.CaffeFunction is CaffeFunction
