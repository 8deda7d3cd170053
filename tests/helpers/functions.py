"""One check for a differentiable function: values, dtypes, layouts, gradients, ChainerX."""

import contextlib
import inspect
import itertools
import sys

import numpy
import pytest

import chainer
import chainerx
from chainer._core.engines.kernels import KernelTape
from chainer.functions._fallbacks import ARGUMENTS, CPU_ONLY
from tests.helpers.devices import CHX

TOLERANCES = {'e': 5e-3, 'f': 1e-5, 'd': 1e-9}


# The current GPU, and one that is not current
GPUS = [
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
    pytest.param('@cupy:1', marks=pytest.mark.multi_gpu(2)),
]


def devices():
    """Devices on which functions are checked: NumPy, and ChainerX where it is built."""
    return ['@numpy', CHX[0]] if chainerx.is_available() else ['@numpy']


def _classes(name):
    """Names of the function nodes in the module of a function."""
    module = sys.modules[getattr(chainer.functions, name).__module__]
    return [
        c.__name__
        for c in vars(module).values()
        if inspect.isclass(c) and issubclass(c, chainer.FunctionNode)
    ]


@contextlib.contextmanager
def no_fallback():
    """Fails if a function falls back in the block that ``chainer/functions/_fallbacks.py`` does not list."""
    with chainer.FallbackReport() as report:
        yield
    allowed = {c for name in (*ARGUMENTS, *CPU_ONLY) for c in _classes(name)}
    fallen = {
        name: record['reason'] for name, record in report.summary().items() if name not in allowed
    }
    assert not fallen, f'fell back from ChainerX: {fallen}'


class _KernelWatch(chainer.FunctionHook):
    """Hook that sees whether a kernel of ChainerX computes on NumPy arrays."""

    name = 'KernelWatch'
    used = False

    def forward_postprocess(self, function, in_data):
        self.used |= isinstance(function._tape, KernelTape)


def kernel_settings(f, xs):
    """Values of ``use_native_kernels`` that make a difference to a function of NumPy arrays."""
    with chainer.using_config('use_native_kernels', 'always'), _KernelWatch() as watch:
        f(*[chainer.Variable(x) for x in xs])
    return ('never', 'always') if watch.used else ('auto',)


def check_function(
    f,
    inputs,
    expected=None,
    *,
    grad=True,
    double=True,
    tolerances=None,
    rtol=0,
    atol=0,
    dtypes='efd',
    result_dtype=None,
    on_chainerx=True,
    eps=1e-5,
    grad_tolerance=1e-5,
):
    """Checks a function against a reference and against numerical derivatives.

    Checked are forward values for contiguous and other inputs, that inputs are not changed, that
    outputs have the dtype of the inputs, gradients on plain arrays and on variables, gradients of
    gradients, and values and gradients on ChainerX, where only those functions may fall back that
    ``chainer/functions/_fallbacks.py`` lists. Functions that kernels of ChainerX serve on NumPy arrays
    are checked there with and without them.

    Args:
        f: Function of variables that returns one variable or a sequence of them.
        inputs: NumPy array, or list or tuple of them. Floating point ones take each of
            ``dtypes`` in turn, and float64 for the derivatives; others are handed to ``f`` as
            they are.
        expected: Reference on float64 arrays (``None``: values are not compared).
        grad, double (bool): Whether first and second derivatives are checked.
        tolerances (dict): Tolerances of values by dtype, over the defaults.
        rtol, atol (float): Least tolerances of values, for all dtypes.
        dtypes: dtypes in which the floating point outputs must come.
        result_dtype: dtype of the floating point outputs, if not that of the inputs.
        on_chainerx (bool): Whether values and gradients are also checked on ChainerX.
        eps (float): Step of the numerical derivatives.
        grad_tolerance (float): Tolerance of derivatives.

    """
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    inputs = tuple([numpy.asarray(x) for x in inputs])
    on_chainerx = on_chainerx and chainerx.is_available()
    known = {**TOLERANCES, **{numpy.dtype(k).char: v for k, v in (tolerances or {}).items()}}
    for dtype in dtypes:
        dtype = numpy.dtype(dtype)
        xs = tuple([_cast(x, dtype) for x in inputs])
        tolerance = known[dtype.char]
        options = {'rtol': max(rtol, tolerance), 'atol': max(atol, tolerance)}
        reference = None
        if expected is not None:
            reference = _as_tuple(expected(*[_cast(x, 'd') for x in xs]))
        layouts = [xs, tuple([_strided(x) for x in xs])]
        for setting, arrays in itertools.product(kernel_settings(f, xs), layouts):
            before = [x.copy() for x in arrays]
            with chainer.using_config('use_native_kernels', setting):
                ys = _as_tuple(f(*arrays))
            _check_values(ys, reference, result_dtype or dtype, options)
            for x, x_before in zip(arrays, before):
                numpy.testing.assert_array_equal(x, x_before, 'an input was changed')
        if on_chainerx:
            arrays = [chainerx.array(x, device=CHX[0]) for x in xs]
            with no_fallback():
                ys = _as_tuple(f(*arrays))
            assert all([isinstance(y.array, chainerx.ndarray) for y in ys])
            _check_values(ys, reference, result_dtype or dtype, options)
    if grad:
        xs = tuple([_cast(x, 'd') for x in inputs])
        for setting in kernel_settings(f, xs):
            with chainer.using_config('use_native_kernels', setting):
                _check_gradients(f, xs, double, eps, on_chainerx, grad_tolerance)


def _as_tuple(ys):
    return tuple(ys) if isinstance(ys, (tuple, list)) else (ys,)


def _cast(x, dtype):
    return x.astype(dtype) if x.dtype.kind == 'f' else x


def _strided(x):
    """Array of the same values that is not contiguous."""
    return numpy.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x


def _check_values(ys, reference, dtype, options):
    for i, y in enumerate(ys):
        assert isinstance(y, chainer.Variable)
        if reference is None:
            continue
        if numpy.asarray(reference[i]).dtype.kind == 'f':
            assert y.dtype == dtype, f'output {i}: {y.dtype}, not {dtype}'
        assert y.shape == numpy.shape(reference[i]), f'output {i}'
        numpy.testing.assert_allclose(
            chainer.backends.cuda.to_cpu(y.array).astype('d'),
            reference[i],
            err_msg=f'output {i} for {dtype}',
            **options,
        )
    assert reference is None or len(ys) == len(reference)


def _gradients(f, xs, gys, double):
    """Variables of inputs, of output gradients and of input gradients."""
    xs = [chainer.Variable(x) for x in xs]
    gys = [None if gy is None else chainer.Variable(gy) for gy in gys]
    ys = _as_tuple(f(*xs))
    targets = [x for x in xs if x.dtype.kind == 'f']
    used = [i for i, gy in enumerate(gys) if gy is not None]
    gxs = chainer.grad(
        [ys[i] for i in used], targets, [gys[i] for i in used], enable_double_backprop=double
    )
    return targets, gys, gxs


def _dot(arrays, directions):
    return sum(
        [
            float((a * d).sum())
            for a, d in zip(arrays, directions)
            if a is not None and d is not None
        ]
    )


def _check_gradients(f, xs, double, eps, on_chainerx, tolerance):
    rng = numpy.random.RandomState(0)

    def like(x):
        return numpy.asarray(rng.uniform(-1, 1, x.shape))

    with chainer.no_backprop_mode():
        ys = [y.array for y in _as_tuple(f(*xs))]
    gys = [like(y) if y.dtype.kind == 'f' else None for y in ys]
    moving = [i for i, x in enumerate(xs) if x.dtype.kind == 'f']
    directions = [like(xs[i]) for i in moving]

    def moved(step):
        arrays = list(xs)
        for i, direction in zip(moving, directions):
            arrays[i] = numpy.asarray(xs[i] + step * direction)
        return arrays

    def outputs(step):
        with chainer.no_backprop_mode():
            return _dot([y.array for y in _as_tuple(f(*moved(step)))], gys)

    numerical = (outputs(eps) - outputs(-eps)) / (2 * eps)
    plain = [None if g is None else g.array for g in _gradients(f, xs, gys, False)[2]]
    _assert_close(_dot(plain, directions), numerical, tolerance, 'gradient')
    if on_chainerx:

        def send(x):
            return None if x is None else chainerx.array(x, device=CHX[0])

        with no_fallback():
            gxs = _gradients(f, [send(x) for x in xs], [send(gy) for gy in gys], False)[2]
        for gx, g in zip(gxs, plain):
            if g is not None:
                numpy.testing.assert_allclose(chainerx.to_numpy(gx.array), g, 1e-7, 1e-7)
    if not double:
        return

    targets, gy_vars, gxs = _gradients(f, xs, gys, True)
    for recorded, g in zip(gxs, plain):
        if recorded is None:
            assert g is None
        else:
            numpy.testing.assert_allclose(recorded.array, g, 1e-9, 1e-9)
    weights = [None if gx is None else like(gx) for gx in gxs]
    gy_directions = [None if gy is None else like(gy) for gy in gys]
    total = sum([chainer.functions.sum(gx * w) for gx, w in zip(gxs, weights) if gx is not None])
    gy_vars = [gy for gy in gy_vars if gy is not None]
    seconds = chainer.grad([total], [*targets, *gy_vars])
    analytic = _dot(
        [None if g is None else g.array for g in seconds],
        [*directions, *[d for d in gy_directions if d is not None]],
    )

    def first(step):
        moved_gys = [
            None if gy is None else numpy.asarray(gy + step * d)
            for gy, d in zip(gys, gy_directions)
        ]
        return _dot(
            [
                None if g is None else g.array
                for g in _gradients(f, moved(step), moved_gys, False)[2]
            ],
            weights,
        )

    numerical = (first(eps) - first(-eps)) / (2 * eps)
    _assert_close(analytic, numerical, tolerance, 'gradient of the gradient')


def _assert_close(actual, expected, tolerance, what):
    numpy.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=what)
