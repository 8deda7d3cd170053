"""Checks that every test of a function makes, from one description of the function."""
import numpy as np

import chainer
import chainerx

TOLERANCES = {np.dtype(np.float16): 5e-3, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}


def _as_tuple(values):
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _cast(x, dtype):
    return x.astype(dtype) if x.dtype.kind == 'f' else x


def _non_contiguous(x):
    if x.ndim == 0:
        return x
    spaced = np.empty((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    spaced[..., ::2] = x
    return spaced[..., ::2]


def devices():
    """Devices on which functions are checked: NumPy, and ChainerX where it is built."""
    return ['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy']


def _check_values(f, inputs, expected, device, tolerance):
    variables = [chainer.Variable(device.send(x), requires_grad=x.dtype.kind == 'f')
                 for x in inputs]
    outputs = _as_tuple(f(*variables))
    assert len(outputs) == len(expected)
    for y, e in zip(outputs, expected):
        assert isinstance(y, chainer.Variable)
        assert y.device == device
        e = np.asarray(e)
        assert y.shape == e.shape, (y.shape, e.shape)
        if e.dtype.kind == 'f' and inputs[0].dtype.kind == 'f':
            float_dtypes = [x.dtype for x in inputs if x.dtype.kind == 'f']
            assert y.dtype == float_dtypes[0], (y.dtype, float_dtypes)
        actual = chainer.get_device('@numpy').send(y.array)
        np.testing.assert_allclose(
            actual.astype(np.float64) if actual.dtype.kind == 'f' else actual, e,
            rtol=tolerance, atol=tolerance)
    return outputs


def _check_gradients(f, inputs, device, double, rng, tolerance):
    floating = [i for i, x in enumerate(inputs) if x.dtype.kind == 'f']
    others = [device.send(x) for x in inputs]

    def g(*xs):
        args = list(others)
        for i, x in zip(floating, xs):
            args[i] = x
        return tuple([y for y in _as_tuple(f(*args)) if y.dtype.kind == 'f'])

    xs = [device.send(inputs[i].astype(np.float64)) for i in floating]
    with chainer.no_backprop_mode():
        shapes = [y.shape for y in g(*xs)]

    def draw(shapes):
        return tuple([device.send(np.asarray(rng.uniform(-1, 1, s))) for s in shapes])

    if all(0 in s for s in shapes):
        return
    gys = draw(shapes)
    chainer.gradient_check.check_backward(
        g, tuple(xs), gys, dtype=np.float64, atol=tolerance, rtol=tolerance)
    if double:
        chainer.gradient_check.check_double_backward(
            g, tuple(xs), gys, draw([x.shape for x in xs]), dtype=np.float64,
            atol=tolerance, rtol=tolerance)


def check_function(f, inputs, expected, *, grad=True, double=True, tolerances=None,
                   grad_tolerance=1e-4, dtypes=(np.float16, np.float32, np.float64),
                   chainerx=True):
    """Checks a differentiable function against a reference.

    Args:
        f: Function of variables or arrays.
        inputs: NumPy arrays; those of floating point are cast to each of ``dtypes``.
        expected: Reference on float64 (and integer) NumPy arrays, returning one array or a
            tuple of arrays.
        grad, double (bool): Whether first and second gradients are compared with numerical ones.
        tolerances (dict): Tolerances of forward by dtype, over the defaults.
        dtypes: Floating point dtypes to check; outputs must have the dtype of the inputs.
        chainerx (bool): Whether the function is also checked on ``native:0``.

    Checked are forward values for contiguous and non-contiguous inputs in all dtypes, that
    inputs are left unchanged, that plain arrays are accepted, and the gradients in float64,
    on NumPy and on ChainerX.
    """
    rng = np.random.RandomState(0)
    tolerances = {**TOLERANCES, **{np.dtype(k): v for k, v in (tolerances or {}).items()}}
    inputs = [np.asarray(x) for x in inputs]
    for name in devices() if chainerx else ['@numpy']:
        device = chainer.get_device(name)
        for dtype in map(np.dtype, dtypes):
            cast = [_cast(x, dtype) for x in inputs]
            reference = _as_tuple(expected(*[_cast(x, np.float64) for x in cast]))
            _check_values(f, cast, reference, device, tolerances[dtype])
            if name == '@numpy':
                copies = [x.copy() for x in cast]
                _check_values(f, [_non_contiguous(x) for x in cast], reference, device,
                              tolerances[dtype])
                for y in _as_tuple(f(*cast)):
                    assert isinstance(y, chainer.Variable)
                for x, copy in zip(cast, copies):
                    np.testing.assert_array_equal(x, copy)
        if grad:
            _check_gradients(f, inputs, device, double, rng, grad_tolerance)
