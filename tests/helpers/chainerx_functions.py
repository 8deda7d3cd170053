"""Which functions run natively on ChainerX, and calls that check it.

`FALLBACKS` is what both the tests and the documentation go by: a function that is not there is
native. The tests make the calls of `helpers.function_table` and those below with fallbacks raising.
"""
import contextlib
import inspect
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainerx

#: Functions without a native path, and why.
FALLBACKS = {
    'decorrelated_batch_normalization':
        'its square root of matrices has no native path',
    'fft': 'ChainerX has no Fourier transform',
    'ifft': 'ChainerX has no Fourier transform',
}

#: Arguments for which a native function falls back for the call.
ARGUMENTS = {
    'as_strided': 'arrays that are views of a part of their memory',
    'average_pooling_nd': '``cover_all``',
    'batch_normalization': 'running statistics that are not ChainerX arrays',
    'batch_renormalization': 'running statistics that are not ChainerX arrays',
    'cholesky': 'float16',
    'cumprod': 'zeros among the elements',
    'det': 'float16',
    'einsum': 'operands of different dtypes',
    'get_item': 'a single ``True`` or ``False`` as an index',
    'inv': 'float16',
    'max_pooling_nd': '``return_indices``',
    'pad': 'modes that compute values, such as ``mean``',
    'softmax_cross_entropy': 'no samples',
    'tensordot': 'operands of different dtypes',
}


def _classes(name):
    """Names of the function nodes in the module of a function."""
    module = sys.modules[getattr(F, name).__module__]
    return [c.__name__ for c in vars(module).values()
            if inspect.isclass(c) and issubclass(c, chainer.FunctionNode)]


@contextlib.contextmanager
def no_fallback():
    """Fails if a function falls back in the block that is not listed above."""
    with chainer.FallbackReport() as report:
        yield
    allowed = {c for name in (*FALLBACKS, *ARGUMENTS) for c in _classes(name)}
    fallen = {name: record['reason'] for name, record in report.summary().items()
              if name not in allowed}
    assert not fallen, f'fell back from ChainerX: {fallen}'


def r(*shape, low=-1., high=1.):
    """Distinct float64 values in the given range, in no order."""
    n = int(np.prod(shape))
    values = low + (high - low) * (np.random.RandomState(n).permutation(n) + .5) / max(n, 1)
    return values.reshape(shape)


def p(*shape):
    return r(*shape, low=.2, high=.9)


def i(*values):
    return np.array(values, np.int32)


def _sparse_matmul(data, b, transa=False):
    row, column = [np.broadcast_to(a, data.shape) for a in (i(0, 1, 1), i(1, 2, -1))]
    matrix = chainer.utils.CooMatrix(np.zeros(data.shape), row, column, (2, 3))
    matrix.data = data
    return F.sparse_matmul(matrix, b, transa=transa)


X = r(2, 3)
IMAGES = r(2, 4, 4, 4)
LABELS = i(1, 0)

#: Calls with other arguments than `helpers.function_table` has: a function of variables and its
#: inputs. Integer arrays get no gradient.
CALLS = {
    'absolute': [(F.absolute, X), (lambda x: abs(x), X)],
    'accuracy': [(F.accuracy, X, LABELS), (lambda y, t: F.accuracy(y, t, 0), X, LABELS)],
    'add': [(F.add, X, p(2, 3)), (F.add, X, p(3)), (lambda x: x + 1, X), (F.add, X, X, p(2, 3))],
    'argmax': [(F.argmax, X), (lambda x: F.argmax(x, axis=1), X)],
    'argmin': [(F.argmin, X), (lambda x: F.argmin(x, axis=1), X)],
    'average': [(F.average, X), (lambda x, w: F.average(x, 1, w), X, p(3))],
    'bilinear': [(F.bilinear, r(2, 3), p(2, 4), r(3, 4, 5)),
                 (F.bilinear, r(2, 3), p(2, 4), r(3, 4, 5), r(3, 5), r(4, 5), r(5))],
    'clip': [(lambda x: F.clip(x, -.5, .5), X), (lambda x: F.clip(x, None, .5), X)],
    'convolution_2d': [
        (F.convolution_2d, IMAGES, r(3, 4, 3, 3), r(3)),
        (lambda x, w: F.convolution_2d(x, w, stride=2, pad=1, groups=2), IMAGES, r(4, 2, 3, 3)),
        (lambda x, w: F.convolution_2d(x, w, dilate=2, pad=2), IMAGES, r(3, 4, 3, 3))],
    'copy': [(lambda x: F.copy(x, x.device), X), (lambda x: F.copy(
        F.copy(x, 'native:0' if x.xp is chainerx else '@numpy'), x.device), X)],
    'cross_covariance': [(F.cross_covariance, r(4, 2), p(4, 3)),
                         (lambda y, z: F.cross_covariance(y, z, 'no'), r(4, 2), p(4, 3))],
    'cumprod': [(F.cumprod, X), (lambda x: F.cumprod(x, 1), X)],
    'cumsum': [(F.cumsum, X), (lambda x: F.cumsum(x, 1), X)],
    'decov': [(F.decov, r(4, 3)), (lambda h: F.decov(h, 'no'), r(4, 3))],
    'diagonal': [(F.diagonal, r(3, 4)), (lambda x: F.diagonal(x, 1, 0, 2), r(3, 2, 4)),
                 (lambda x: F.diagonal(x, -1, -1, -2), r(2, 3, 4))],
    'embed_id': [(F.embed_id, LABELS, r(4, 3)),
                 (lambda x, W: F.embed_id(x, W, 0), LABELS, r(4, 3))],
    'floor': [(F.floor, X), (lambda x: x // .3, X)],
    'gaussian': [(F.gaussian, X, X),
                 (lambda m, v, e: F.gaussian(m, v, eps=e.array), X, X, r(2, 3))],
    'gelu': [(F.gelu, X), (lambda x: F.gelu(x, approximate=True), X)],
    'get_item': [
        (lambda x: x[0], X), (lambda x: x[:, ::-1], X), (lambda x: x[[1, 0]], X),
        (lambda x: F.get_item(x, (i(0, 1, 1), i(2, 2, 0))), X),
        (lambda x: x[np.array([True, False])], X), (lambda x: x[:, None, i(2, 0)], X),
        (lambda x: x[np.array([[True, False, True], [False, True, True]])], X),
        (lambda x: x[1, i(0, 2)], X), (lambda x: x[..., i(-1)], X)],
    'hinge': [(F.hinge, X, LABELS), (lambda x, t: F.hinge(x, t, 'L2', 'no'), X, LABELS)],
    'hstack': [(lambda x, y: F.hstack((x, y)), X, p(2, 2)),
               (lambda x, y: F.hstack((x, y)), r(3), p(2))],
    'huber_loss': [(lambda x, t: F.huber_loss(x, t, .4), X, p(2, 3)),
                   (lambda x, t: F.huber_loss(x, t, .4, 'no'), X, p(2, 3))],
    'im2col': [(lambda x: F.im2col(x, 3, pad=1), IMAGES),
               (lambda x: F.im2col(x, 2, 2, cover_all=True), r(1, 2, 5, 5))],
    'linear': [(F.linear, X, r(4, 3), r(4)),
               (lambda x, w: F.linear(x, w, n_batch_axes=2), r(2, 2, 3), r(4, 3))],
    'logsumexp': [(F.logsumexp, X), (lambda x: F.logsumexp(x, 1), X)],
    'lstm': [(F.lstm, r(2, 3), r(2, 12)), (F.lstm, r(3, 3), r(2, 12))],
    'matmul': [(F.matmul, X, r(3, 4)), (F.matmul, r(3), p(3)),
               (lambda a, b: F.matmul(a, b, transa=True), r(2, 3, 4), r(2, 3, 2))],
    'max': [(F.max, X), (lambda x: F.max(x, axis=1, keepdims=True), X)],
    'mean': [(F.mean, X), (lambda x: F.mean(x, axis=(0, 1), keepdims=True), X)],
    'min': [(F.min, X), (lambda x: F.min(x, axis=0), X)],
    'normalize': [(F.normalize, X), (lambda x: F.normalize(x, axis=(1, 2)), r(2, 3, 4))],
    'pad': [(lambda x: F.pad(x, ((1, 2), (0, 1)), 'constant'), X),
            (lambda x: F.pad(x, 1, 'constant', constant_values=2.), X)],
    'permutate': [(lambda x, k: F.permutate(x, k), r(3, 2), i(2, 0, 1)),
                  (lambda x, k: F.permutate(x, k, axis=1, inv=True), X, i(2, 0, 1))],
    'polygamma': [(F.polygamma, i(1, 2, 0), p(3)), (lambda x: F.polygamma(2, x), p(3))],
    'prod': [(F.prod, X), (lambda x: F.prod(x, axis=1), X)],
    'r2_score': [(F.r2_score, r(4, 3), p(4, 3)),
                 (lambda y, t: F.r2_score(y, t, multioutput='raw_values'), r(4, 3), p(4, 3))],
    'repeat': [(lambda x: F.repeat(x, 2, axis=1), X), (lambda x: F.repeat(x, (1, 2), 0), X)],
    'resize_images': [
        (lambda x: F.resize_images(x, (3, 6)), IMAGES),
        (lambda x: F.resize_images(x, (3, 6), align_corners=False), IMAGES),
        (lambda x: F.resize_images(x, (3, 6), mode='nearest', align_corners=False), IMAGES)],
    'rrelu': [(F.rrelu, X),
              (lambda x: F.rrelu(x, r=np.full((2, 3), .2, x.dtype)), X)],
    'scatter_add': [(lambda a, b: F.scatter_add(a, 1, b), X, r(3)),
                    (lambda a, b: F.scatter_add(a, (slice(None), i(0, 0)), b), X, r(2, 2))],
    'shift': [(F.shift, r(1, 9, 4, 4)), (lambda x: F.shift(x, 3, 2), r(1, 10, 5, 5))],
    'sigmoid_cross_entropy': [
        (F.sigmoid_cross_entropy, X, np.array([[1, 0, -1], [0, 0, 1]], np.int32)),
        (lambda x, t: F.sigmoid_cross_entropy(x, t, normalize=False, reduce='no'), X,
         np.array([[1, 0, -1], [0, 0, 1]], np.int32))],
    'simplified_dropconnect': [
        (lambda x, W, b: F.simplified_dropconnect(x, W, b), X, r(4, 3), r(4)),
        (lambda x, W: F.simplified_dropconnect(
            x, W, mask=np.ones((2, 4, 3), bool)), X, r(4, 3)),
        (lambda x, W: F.simplified_dropconnect(
            x, W, mask=np.eye(4, 3, dtype=bool), use_batchwise_mask=False), X, r(4, 3))],
    'softmax_cross_entropy': [
        (F.softmax_cross_entropy, X, LABELS),
        (lambda x, t: F.softmax_cross_entropy(x, t, normalize=False, reduce='no'), X, i(-1, 2)),
        (lambda x, t: F.softmax_cross_entropy(x, t, ignore_label=None), X, LABELS),
        (lambda x, t: F.softmax_cross_entropy(
            x, t, class_weight=np.array([1, 2, 3], x.dtype), enable_double_backprop=True),
         X, LABELS),
        (lambda x, t: F.softmax_cross_entropy(x, t, enable_double_backprop=True), X, p(2, 3)),
        (lambda x, t: F.softmax_cross_entropy(
            x, t, class_weight=np.array([1, 2, 3], x.dtype), soft_target_loss='kl-divergence',
            reduce='no', enable_double_backprop=True), X, p(2, 3))],
    'sparse_matmul': [(_sparse_matmul, r(3), r(3, 2)), (_sparse_matmul, r(2, 3), r(2, 3, 2)),
                      (lambda a, b: _sparse_matmul(a, b, True), r(3), r(2, 2))],
    'split_axis': [(lambda x: F.split_axis(x, 3, 1), X), (lambda x: F.split_axis(x, [1], 1), X)],
    'sum': [(F.sum, X), (lambda x: F.sum(x, axis=1, keepdims=True), X)],
    'transpose': [(F.transpose, X), (lambda x: F.transpose(x, (1, 0, 2)), r(2, 3, 4))],
    'transpose_sequence': [(lambda *xs: F.transpose_sequence(xs), r(0, 2), r(0, 2))],
    'triplet': [(F.triplet, X, p(2, 3), r(2, 3)),
                (lambda a, b, c: F.triplet(a, b, c, reduce='no'), X, p(2, 3), r(2, 3))],
    'unpooling_2d': [(lambda x: F.unpooling_2d(x, 2), IMAGES),
                     (lambda x: F.unpooling_2d(x, 3, 2, 1, cover_all=False), IMAGES)],
    'vstack': [(lambda x, y: F.vstack((x, y)), X, p(1, 3)),
               (lambda x, y: F.vstack((x, y)), r(3), p(3))],
}

#: Calls of these are not compared: they draw at random.
RANDOM = [CALLS['gaussian'][0], CALLS['rrelu'][0], CALLS['simplified_dropconnect'][0]]
