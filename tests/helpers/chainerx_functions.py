"""Which functions run natively on ChainerX: one call or more of every public function.

`FALLBACKS` is what both the tests and the documentation go by: a function that is not there is
native, and the tests make every call below with fallbacks raising.
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
    'batch_det': 'ChainerX has no determinant',
    'batch_inv': 'ChainerX inverts one matrix, not a batch',
    'connectionist_temporal_classification':
        'its recurrence over time steps has no kernel, and would be many small operations',
    'decorrelated_batch_normalization':
        'ChainerX has eigenvalues of one matrix, not of a batch',
    'det': 'ChainerX has no determinant',
    'einsum': 'ChainerX has no Einstein summation',
    'fft': 'ChainerX has no Fourier transform',
    'ifft': 'ChainerX has no Fourier transform',
    'tensordot': 'ChainerX has no tensor product',
}

#: Arguments for which a native function falls back for the call.
ARGUMENTS = {
    'as_strided': 'arrays that are views of a part of their memory',
    'average_pooling_nd': '``cover_all``',
    'batch_normalization': 'running statistics that are not ChainerX arrays',
    'batch_renormalization': 'running statistics that are not ChainerX arrays',
    'cholesky': 'float16',
    'cumprod': 'zeros among the elements',
    'get_item': 'a single ``True`` or ``False`` as an index',
    'inv': 'float16',
    'max_pooling_nd': '``return_indices``',
    'pad': 'modes that compute values, such as ``mean``',
    'softmax_cross_entropy': 'no samples',
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


def _roi(name, *args):
    function = getattr(F, name)
    return lambda x, rois, indices: function(x, rois, indices, *args)


X = r(2, 3)
IMAGES = r(2, 4, 4, 4)
ROIS = np.array([[0.3, 0.2, 3.1, 2.9], [0.6, 1.1, 2.8, 3.2]])
INT_ROIS = np.array([[0., 0., 2., 2.], [1., 1., 3., 3.]])
LABELS = i(1, 0)

#: Calls by name: a function of variables and its inputs. Integer arrays get no gradient.
CALLS = {
    'absolute': [(F.absolute, X), (lambda x: abs(x), X)],
    'absolute_error': [(F.absolute_error, X, p(2, 3))],
    'accuracy': [(F.accuracy, X, LABELS), (lambda y, t: F.accuracy(y, t, 0), X, LABELS)],
    'add': [(F.add, X, p(2, 3)), (F.add, X, p(3)), (lambda x: x + 1, X), (F.add, X, X, p(2, 3))],
    'arccos': [(F.arccos, X)],
    'arcsin': [(F.arcsin, X)],
    'arctan': [(F.arctan, X)],
    'arctan2': [(F.arctan2, X, p(2, 3))],
    'arctanh': [(F.arctanh, X)],
    'argmax': [(F.argmax, X), (lambda x: F.argmax(x, axis=1), X)],
    'argmax_crf1d': [(lambda c, x, y: F.argmax_crf1d(c, [x, y])[1], r(3, 3), r(2, 3), p(2, 3))],
    'argmin': [(F.argmin, X), (lambda x: F.argmin(x, axis=1), X)],
    'as_strided': [(lambda x: F.as_strided(x, (2, 2), (2, 1)), X)],
    'average': [(F.average, X), (lambda x, w: F.average(x, 1, w), X, p(3))],
    'average_pooling_1d': [(lambda x: F.average_pooling_1d(x, 2), r(2, 3, 4))],
    'average_pooling_2d': [(lambda x: F.average_pooling_2d(x, 3, 2, 1), IMAGES)],
    'average_pooling_3d': [(lambda x: F.average_pooling_3d(x, 2), r(1, 2, 4, 4, 4))],
    'average_pooling_nd': [(lambda x: F.average_pooling_nd(x, 2, pad=1, pad_value=None), IMAGES)],
    'batch_det': [(F.batch_det, r(2, 3, 3))],
    'batch_inv': [(F.batch_inv, r(2, 3, 3) + 2 * np.eye(3))],
    'batch_l2_norm_squared': [(F.batch_l2_norm_squared, X)],
    'batch_matmul': [(F.batch_matmul, r(2, 3, 4), r(2, 4, 2))],
    'batch_normalization': [(F.batch_normalization, r(4, 3), p(3), r(3))],
    'batch_renormalization': [
        (lambda x, g, b: F.batch_renormalization(
            x, g, b, 2., 1., running_mean=x.device.send(np.zeros(3, x.dtype)),
            running_var=x.device.send(np.full(3, .3, x.dtype))),
         r(4, 3), p(3), r(3))],
    'bernoulli_nll': [(F.bernoulli_nll, p(2, 3), X)],
    'bias': [(F.bias, X, r(3))],
    'bilinear': [(F.bilinear, r(2, 3), p(2, 4), r(3, 4, 5)),
                 (F.bilinear, r(2, 3), p(2, 4), r(3, 4, 5), r(3, 5), r(4, 5), r(5))],
    'binary_accuracy': [(F.binary_accuracy, X, np.array([[1, 0, -1], [0, 0, 1]], np.int32))],
    'black_out': [(F.black_out, r(2, 3), LABELS, r(4, 3), np.array([[2, 3], [1, 2]], np.int32))],
    'broadcast': [(F.broadcast, X, r(3))],
    'broadcast_to': [(lambda x: F.broadcast_to(x, (2, 2, 3)), X)],
    'cast': [(lambda x: F.cast(x, np.float32), X)],
    'ceil': [(F.ceil, X)],
    'cholesky': [(lambda a: F.cholesky(F.matmul(a, a, transb=True)), r(3, 3) + 2 * np.eye(3))],
    'classification_summary': [(F.classification_summary, r(4, 3), i(0, 2, 1, 1))],
    'clip': [(lambda x: F.clip(x, -.5, .5), X), (lambda x: F.clip(x, None, .5), X)],
    'clipped_relu': [(lambda x: F.clipped_relu(x, .5), X)],
    'concat': [(lambda x, y: F.concat((x, y)), X, p(2, 2))],
    'connectionist_temporal_classification': [
        (lambda x, y, t: F.connectionist_temporal_classification([x, y], t, 2), r(2, 3), p(2, 3),
         np.array([[0], [1]], np.int32))],
    'contrastive': [(F.contrastive, X, p(2, 3), LABELS)],
    'convolution_1d': [(lambda x, w: F.convolution_1d(x, w), r(2, 3, 4), r(2, 3, 2))],
    'convolution_2d': [
        (F.convolution_2d, IMAGES, r(3, 4, 3, 3), r(3)),
        (lambda x, w: F.convolution_2d(x, w, stride=2, pad=1, groups=2), IMAGES, r(4, 2, 3, 3)),
        (lambda x, w: F.convolution_2d(x, w, dilate=2, pad=2), IMAGES, r(3, 4, 3, 3))],
    'convolution_3d': [(F.convolution_3d, r(1, 2, 3, 3, 3), r(2, 2, 2, 2, 2))],
    'convolution_nd': [(F.convolution_nd, r(2, 3, 4), r(2, 3, 2), r(2))],
    'copy': [(lambda x: F.copy(x, x.device), X), (lambda x: F.copy(
        F.copy(x, 'native:0' if x.xp is chainerx else '@numpy'), x.device), X)],
    'cos': [(F.cos, X)],
    'cosh': [(F.cosh, X)],
    'crelu': [(F.crelu, X)],
    'crf1d': [(lambda c, x, y, s: F.crf1d(c, [x, y], [s, s]), r(3, 3), r(2, 3), p(2, 3), i(0, 2))],
    'cross_covariance': [(F.cross_covariance, r(4, 2), p(4, 3)),
                         (lambda y, z: F.cross_covariance(y, z, 'no'), r(4, 2), p(4, 3))],
    'cumprod': [(F.cumprod, X), (lambda x: F.cumprod(x, 1), X)],
    'cumsum': [(F.cumsum, X), (lambda x: F.cumsum(x, 1), X)],
    'deconvolution_1d': [(F.deconvolution_1d, r(2, 3, 4), r(3, 2, 2))],
    'deconvolution_2d': [(F.deconvolution_2d, IMAGES, r(4, 3, 3, 3), r(3))],
    'deconvolution_3d': [(F.deconvolution_3d, r(1, 2, 2, 2, 2), r(2, 2, 2, 2, 2))],
    'deconvolution_nd': [(F.deconvolution_nd, r(2, 3, 4), r(3, 2, 2))],
    'decorrelated_batch_normalization': [
        (lambda x: F.decorrelated_batch_normalization(x, groups=2), r(8, 4))],
    'decov': [(F.decov, r(4, 3)), (lambda h: F.decov(h, 'no'), r(4, 3))],
    'deformable_convolution_2d_sampler': [
        (lambda x, o, w: F.deformable_convolution_2d_sampler(x, o, w), IMAGES,
         r(2, 8, 3, 3, low=-.4, high=.4), r(2, 4, 2, 2))],
    'depth2space': [(lambda x: F.depth2space(x, 2), IMAGES)],
    'depthwise_convolution_2d': [(F.depthwise_convolution_2d, IMAGES, r(2, 4, 3, 3))],
    'det': [(F.det, r(3, 3))],
    'diagonal': [(F.diagonal, r(3, 4)), (lambda x: F.diagonal(x, 1, 0, 2), r(3, 2, 4)),
                 (lambda x: F.diagonal(x, -1, -1, -2), r(2, 3, 4))],
    'digamma': [(F.digamma, p(2, 3))],
    'dilated_convolution_2d': [
        (lambda x, w: F.dilated_convolution_2d(x, w, pad=2, dilate=2), IMAGES, r(2, 4, 3, 3))],
    'discriminative_margin_based_clustering_loss': [
        (lambda x, t: F.sum(F.stack(F.discriminative_margin_based_clustering_loss(
            x, t, .5, 1.5, 3))), r(1, 3, 2, 4), np.array([[[1, 1, 2, 2], [1, 2, 2, 3]]]))],
    'dropout': [(F.dropout, X)],
    'dstack': [(lambda x, y: F.dstack((x, y)), X, p(2, 3))],
    'einsum': [(lambda a, b: F.einsum('ij,jk->ik', a, b), X, r(3, 4))],
    'elu': [(F.elu, X)],
    'embed_id': [(F.embed_id, LABELS, r(4, 3)),
                 (lambda x, W: F.embed_id(x, W, 0), LABELS, r(4, 3))],
    'erf': [(F.erf, X)],
    'erfc': [(F.erfc, X)],
    'erfcinv': [(F.erfcinv, p(2, 3))],
    'erfcx': [(F.erfcx, X)],
    'erfinv': [(F.erfinv, X)],
    'exp': [(F.exp, X)],
    'expand_dims': [(lambda x: F.expand_dims(x, 1), X)],
    'expm1': [(F.expm1, X)],
    'f1_score': [(lambda y, t: F.f1_score(y, t)[0], r(4, 3), i(0, 2, 1, 1))],
    'fbeta_score': [(lambda y, t: F.fbeta_score(y, t)[0], r(4, 3), i(0, 2, 1, 1))],
    'fft': [(lambda x, y: F.fft((x, y)), X, p(2, 3))],
    'fix': [(F.fix, X)],
    'fixed_batch_normalization': [
        (F.fixed_batch_normalization, r(4, 3), p(3), r(3), r(3), p(3))],
    'fixed_batch_renormalization': [
        (F.fixed_batch_renormalization, r(4, 3), p(3), r(3), r(3), p(3))],
    'fixed_decorrelated_batch_normalization': [
        (lambda x, m, a: F.fixed_decorrelated_batch_normalization(x, m, a, groups=2),
         r(8, 4), r(2, 2), r(2, 2, 2))],
    'flatten': [(F.flatten, X)],
    'flip': [(lambda x: F.flip(x, 1), X)],
    'fliplr': [(F.fliplr, X)],
    'flipud': [(F.flipud, X)],
    'floor': [(F.floor, X), (lambda x: x // .3, X)],
    'fmod': [(F.fmod, X, p(2, 3))],
    'forget': [(lambda x: F.forget(lambda v: F.exp(v) * v, x), X)],
    'gaussian': [(F.gaussian, X, X),
                 (lambda m, v, e: F.gaussian(m, v, eps=e.array), X, X, r(2, 3))],
    'gaussian_kl_divergence': [(F.gaussian_kl_divergence, X, p(2, 3))],
    'gaussian_nll': [(F.gaussian_nll, X, p(2, 3), r(2, 3))],
    'gelu': [(F.gelu, X), (lambda x: F.gelu(x, approximate=True), X)],
    'get_item': [
        (lambda x: x[0], X), (lambda x: x[:, ::-1], X), (lambda x: x[[1, 0]], X),
        (lambda x: F.get_item(x, (i(0, 1, 1), i(2, 2, 0))), X),
        (lambda x: x[np.array([True, False])], X), (lambda x: x[:, None, i(2, 0)], X),
        (lambda x: x[np.array([[True, False, True], [False, True, True]])], X),
        (lambda x: x[1, i(0, 2)], X), (lambda x: x[..., i(-1)], X)],
    'group_normalization': [
        (lambda x, g, b: F.group_normalization(x, 2, g, b), IMAGES, p(4), r(4))],
    'gumbel_softmax': [(F.gumbel_softmax, X)],
    'hard_sigmoid': [(lambda x: F.hard_sigmoid(x * 4), X)],
    'hinge': [(F.hinge, X, LABELS), (lambda x, t: F.hinge(x, t, 'L2', 'no'), X, LABELS)],
    'hstack': [(lambda x, y: F.hstack((x, y)), X, p(2, 2)),
               (lambda x, y: F.hstack((x, y)), r(3), p(2))],
    'huber_loss': [(lambda x, t: F.huber_loss(x, t, .4), X, p(2, 3)),
                   (lambda x, t: F.huber_loss(x, t, .4, 'no'), X, p(2, 3))],
    'identity': [(F.identity, X)],
    'ifft': [(lambda x, y: F.ifft((x, y)), X, p(2, 3))],
    'im2col': [(lambda x: F.im2col(x, 3, pad=1), IMAGES),
               (lambda x: F.im2col(x, 2, 2, cover_all=True), r(1, 2, 5, 5))],
    'inv': [(F.inv, r(3, 3) + 2 * np.eye(3))],
    'layer_normalization': [(F.layer_normalization, X, p(3), r(3))],
    'leaky_relu': [(F.leaky_relu, X)],
    'lgamma': [(F.lgamma, p(2, 3))],
    'linear': [(F.linear, X, r(4, 3), r(4)),
               (lambda x, w: F.linear(x, w, n_batch_axes=2), r(2, 2, 3), r(4, 3))],
    'linear_interpolate': [(F.linear_interpolate, p(2, 3), X, p(2, 3))],
    'local_convolution_2d': [(F.local_convolution_2d, r(2, 2, 4, 4), r(3, 2, 2, 2, 3, 3))],
    'local_response_normalization': [(F.local_response_normalization, IMAGES)],
    'log': [(F.log, p(2, 3))],
    'log10': [(F.log10, p(2, 3))],
    'log1p': [(F.log1p, p(2, 3))],
    'log2': [(F.log2, p(2, 3))],
    'log_ndtr': [(F.log_ndtr, X)],
    'log_softmax': [(F.log_softmax, X)],
    'logsumexp': [(F.logsumexp, X), (lambda x: F.logsumexp(x, 1), X)],
    'lstm': [(F.lstm, r(2, 3), r(2, 12)), (F.lstm, r(3, 3), r(2, 12))],
    'matmul': [(F.matmul, X, r(3, 4)), (F.matmul, r(3), p(3)),
               (lambda a, b: F.matmul(a, b, transa=True), r(2, 3, 4), r(2, 3, 2))],
    'max': [(F.max, X), (lambda x: F.max(x, axis=1, keepdims=True), X)],
    'max_pooling_1d': [(lambda x: F.max_pooling_1d(x, 2), r(2, 3, 4))],
    'max_pooling_2d': [(lambda x: F.max_pooling_2d(x, 3, 2, 1), IMAGES)],
    'max_pooling_3d': [(lambda x: F.max_pooling_3d(x, 2), r(1, 2, 4, 4, 4))],
    'max_pooling_nd': [(lambda x: F.max_pooling_nd(x, 2), IMAGES)],
    'maximum': [(F.maximum, X, p(2, 3))],
    'maxout': [(lambda x: F.maxout(x, 2), r(2, 4))],
    'mean': [(F.mean, X), (lambda x: F.mean(x, axis=(0, 1), keepdims=True), X)],
    'mean_absolute_error': [(F.mean_absolute_error, X, p(2, 3))],
    'mean_squared_error': [(F.mean_squared_error, X, p(2, 3))],
    'min': [(F.min, X), (lambda x: F.min(x, axis=0), X)],
    'minimum': [(F.minimum, X, p(2, 3))],
    'mish': [(F.mish, X)],
    'moveaxis': [(lambda x: F.moveaxis(x, 0, -1), IMAGES)],
    'n_step_bigru': [(lambda h, x, w, v, b: F.n_step_bigru(
        1, 0., h, [[w, w, w, v, v, v]] * 2, [[b] * 6] * 2, [x, x[:1]])[0],
        r(2, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'n_step_bilstm': [(lambda h, x, w, v, b: F.n_step_bilstm(
        1, 0., h, h, [[w] * 4 + [v] * 4] * 2, [[b] * 8] * 2, [x, x[:1]])[0],
        r(2, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'n_step_birnn': [(lambda h, x, w, v, b: F.n_step_birnn(
        1, 0., h, [[w, v]] * 2, [[b] * 2] * 2, [x, x[:1]])[0],
        r(2, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'n_step_gru': [(lambda h, x, w, v, b: F.n_step_gru(
        1, 0., h, [[w, w, w, v, v, v]], [[b] * 6], [x, x[:1]])[0],
        r(1, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'n_step_lstm': [(lambda h, x, w, v, b: F.n_step_lstm(
        1, 0., h, h, [[w] * 4 + [v] * 4], [[b] * 8], [x, x[:1]])[0],
        r(1, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'n_step_rnn': [(lambda h, x, w, v, b: F.n_step_rnn(
        1, 0., h, [[w, v]], [[b] * 2], [x, x[:1]])[0],
        r(1, 2, 3), r(2, 2), r(3, 2), r(3, 3), r(3))],
    'ndtr': [(F.ndtr, X)],
    'ndtri': [(F.ndtri, p(2, 3))],
    'negative_sampling': [(lambda x, t, W: F.negative_sampling(
        x, t, W, lambda shape: np.full(shape, 2), 2), r(2, 3), LABELS, r(4, 3))],
    'normalize': [(F.normalize, X), (lambda x: F.normalize(x, axis=(1, 2)), r(2, 3, 4))],
    'pad': [(lambda x: F.pad(x, ((1, 2), (0, 1)), 'constant'), X),
            (lambda x: F.pad(x, 1, 'constant', constant_values=2.), X)],
    'pad_sequence': [(lambda x, y: F.pad_sequence([x, y], 4, -1.), r(3, 2), p(2, 2))],
    'permutate': [(lambda x, k: F.permutate(x, k), r(3, 2), i(2, 0, 1)),
                  (lambda x, k: F.permutate(x, k, axis=1, inv=True), X, i(2, 0, 1))],
    'polygamma': [(F.polygamma, i(1, 2, 0), p(3)), (lambda x: F.polygamma(2, x), p(3))],
    'precision': [(lambda y, t: F.precision(y, t)[0], r(4, 3), i(0, 2, 1, 1))],
    'prelu': [(F.prelu, X, p(3))],
    'prod': [(F.prod, X), (lambda x: F.prod(x, axis=1), X)],
    'r2_score': [(F.r2_score, r(4, 3), p(4, 3)),
                 (lambda y, t: F.r2_score(y, t, multioutput='raw_values'), r(4, 3), p(4, 3))],
    'recall': [(lambda y, t: F.recall(y, t)[0], r(4, 3), i(0, 2, 1, 1))],
    'relu': [(F.relu, X)],
    'relu6': [(lambda x: F.relu6(x * 8), X)],
    'repeat': [(lambda x: F.repeat(x, 2, axis=1), X), (lambda x: F.repeat(x, (1, 2), 0), X)],
    'reshape': [(lambda x: F.reshape(x, (3, -1)), X)],
    'resize_images': [
        (lambda x: F.resize_images(x, (3, 6)), IMAGES),
        (lambda x: F.resize_images(x, (3, 6), align_corners=False), IMAGES),
        (lambda x: F.resize_images(x, (3, 6), mode='nearest', align_corners=False), IMAGES)],
    'rms_normalization': [(F.rms_normalization, X, p(3))],
    'roi_average_align_2d': [(_roi('roi_average_align_2d', 2, 1., 2), IMAGES, ROIS, i(0, 1))],
    'roi_average_pooling_2d': [(_roi('roi_average_pooling_2d', 2, 1.), IMAGES, INT_ROIS, i(0, 1))],
    'roi_max_align_2d': [(_roi('roi_max_align_2d', 2, 1., 2), IMAGES, ROIS, i(0, 1))],
    'roi_max_pooling_2d': [(_roi('roi_max_pooling_2d', 2, 1.), IMAGES, INT_ROIS, i(0, 1))],
    'roi_pooling_2d': [(lambda x, rois: F.roi_pooling_2d(x, rois, 2, 2, 1.), IMAGES,
                        np.array([[0., 0, 0, 2, 2], [1, 1, 1, 3, 3]]))],
    'rollaxis': [(lambda x: F.rollaxis(x, 2, 1), IMAGES)],
    'rrelu': [(F.rrelu, X),
              (lambda x: F.rrelu(x, r=np.full((2, 3), .2, x.dtype)), X)],
    'rsqrt': [(F.rsqrt, p(2, 3))],
    'scale': [(F.scale, X, r(3))],
    'scaled_dot_product_attention': [
        (F.scaled_dot_product_attention, r(2, 3, 4), p(2, 3, 4), r(2, 3, 4))],
    'scatter_add': [(lambda a, b: F.scatter_add(a, 1, b), X, r(3)),
                    (lambda a, b: F.scatter_add(a, (slice(None), i(0, 0)), b), X, r(2, 2))],
    'select_item': [(F.select_item, X, LABELS)],
    'selu': [(F.selu, X)],
    'separate': [(lambda x: F.separate(x, axis=1), X)],
    'shift': [(F.shift, r(1, 9, 4, 4)), (lambda x: F.shift(x, 3, 2), r(1, 10, 5, 5))],
    'sigmoid': [(F.sigmoid, X)],
    'sigmoid_cross_entropy': [
        (F.sigmoid_cross_entropy, X, np.array([[1, 0, -1], [0, 0, 1]], np.int32)),
        (lambda x, t: F.sigmoid_cross_entropy(x, t, normalize=False, reduce='no'), X,
         np.array([[1, 0, -1], [0, 0, 1]], np.int32))],
    'sign': [(F.sign, X)],
    'silu': [(F.silu, X)],
    'simplified_dropconnect': [
        (lambda x, W, b: F.simplified_dropconnect(x, W, b), X, r(4, 3), r(4)),
        (lambda x, W: F.simplified_dropconnect(
            x, W, mask=np.ones((2, 4, 3), bool)), X, r(4, 3)),
        (lambda x, W: F.simplified_dropconnect(
            x, W, mask=np.eye(4, 3, dtype=bool), use_batchwise_mask=False), X, r(4, 3))],
    'sin': [(F.sin, X)],
    'sinh': [(F.sinh, X)],
    'slstm': [(F.slstm, r(2, 3), p(2, 3), r(2, 12), p(2, 12))],
    'softmax': [(F.softmax, X)],
    'softmax_cross_entropy': [
        (F.softmax_cross_entropy, X, LABELS),
        (lambda x, t: F.softmax_cross_entropy(x, t, normalize=False, reduce='no'), X, i(-1, 2)),
        (lambda x, t: F.softmax_cross_entropy(
            x, t, class_weight=np.array([1, 2, 3], x.dtype), enable_double_backprop=True),
         X, LABELS),
        (lambda x, t: F.softmax_cross_entropy(x, t, enable_double_backprop=True), X, p(2, 3)),
        (lambda x, t: F.softmax_cross_entropy(
            x, t, class_weight=np.array([1, 2, 3], x.dtype), soft_target_loss='kl-divergence',
            reduce='no', enable_double_backprop=True), X, p(2, 3))],
    'softplus': [(F.softplus, X)],
    'space2depth': [(lambda x: F.space2depth(x, 2), IMAGES)],
    'sparse_matmul': [(_sparse_matmul, r(3), r(3, 2)), (_sparse_matmul, r(2, 3), r(2, 3, 2)),
                      (lambda a, b: _sparse_matmul(a, b, True), r(3), r(2, 2))],
    'spatial_pyramid_pooling_2d': [(lambda x: F.spatial_pyramid_pooling_2d(x, 2, 'max'), IMAGES)],
    'spatial_transformer_grid': [(lambda t: F.spatial_transformer_grid(t, (3, 2)), r(2, 2, 3))],
    'spatial_transformer_sampler': [
        (F.spatial_transformer_sampler, IMAGES, r(2, 2, 3, 3, low=-.9, high=.9))],
    'split_axis': [(lambda x: F.split_axis(x, 3, 1), X), (lambda x: F.split_axis(x, [1], 1), X)],
    'sqrt': [(F.sqrt, p(2, 3))],
    'square': [(F.square, X)],
    'squared_difference': [(F.squared_difference, X, p(2, 3))],
    'squared_error': [(F.squared_error, X, p(2, 3))],
    'squeeze': [(F.squeeze, r(2, 1, 3))],
    'stack': [(lambda x, y: F.stack((x, y)), X, p(2, 3))],
    'sum': [(F.sum, X), (lambda x: F.sum(x, axis=1, keepdims=True), X)],
    'sum_to': [(lambda x: F.sum_to(x, (1, 3)), X)],
    'swapaxes': [(lambda x: F.swapaxes(x, 0, 1), X)],
    'swish': [(F.swish, X, p(3))],
    'tan': [(F.tan, X)],
    'tanh': [(F.tanh, X)],
    'tensordot': [(lambda a, b: F.tensordot(a, b, 1), X, r(3, 4))],
    'tile': [(lambda x: F.tile(x, (2, 1)), X)],
    'transpose': [(F.transpose, X), (lambda x: F.transpose(x, (1, 0, 2)), r(2, 3, 4))],
    'transpose_sequence': [(lambda x, y: F.transpose_sequence([x, y]), r(3, 2), p(2, 2))],
    'tree_lstm': [(F.tree_lstm, r(2, 3), p(2, 3), r(2, 15))],
    'triplet': [(F.triplet, X, p(2, 3), r(2, 3)),
                (lambda a, b, c: F.triplet(a, b, c, reduce='no'), X, p(2, 3), r(2, 3))],
    'unpooling_1d': [(lambda x: F.unpooling_1d(x, 2), r(2, 3, 4))],
    'unpooling_2d': [(lambda x: F.unpooling_2d(x, 2), IMAGES),
                     (lambda x: F.unpooling_2d(x, 3, 2, 1, cover_all=False), IMAGES)],
    'unpooling_3d': [(lambda x: F.unpooling_3d(x, 2), r(1, 2, 2, 2, 2))],
    'unpooling_nd': [(lambda x: F.unpooling_nd(x, 2), r(2, 3, 4))],
    'upsampling_2d': [(lambda x, t: F.upsampling_2d(x, t, 2, 2), r(1, 1, 2, 2),
                       np.array([[[[0, 1], [2, 3]]]]))],
    'vstack': [(lambda x, y: F.vstack((x, y)), X, p(1, 3)),
               (lambda x, y: F.vstack((x, y)), r(3), p(3))],
    'where': [(lambda x, y: F.where(np.array([True, False, True]), x, y), X, p(2, 3))],
    'zeta': [(lambda q: F.zeta(np.array([2., 3.]), q), p(2))],
    'zoneout': [(F.zoneout, X, p(2, 3))],
}

#: Functions that raise an error if their gradients are to be differentiated.
ONCE = ['forget']

#: Functions whose results are drawn at random: their values are not compared.
RANDOM = ['dropout', 'gaussian', 'gumbel_softmax', 'rrelu', 'simplified_dropconnect', 'zoneout']
