"""Comparison of gradients with numerical ones."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.variables.backward import backward as _backpropagate
from chainer.link import Link
from chainer.utils import _allclose
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import DTypeSpec, NdArray
    from chainer.variable import Variable


class NondifferentiableError(Exception):
    """Raised when a function seems not to be differentiable at the point of the check.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([0.])
        >>> gradient_check.numerical_grad(
        ...     lambda: (abs(x),), (x,), (np.ones(1),), detect_nondifferentiable=True)
        Traceback (most recent call last):
            ...
        chainer.gradient_check.NondifferentiableError: Nondifferentiable input detected...

    """


def assert_allclose(
    x: Any, y: Any, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    """Asserts that arrays are close; see :func:`chainer.testing.assert_allclose`.

    Args:
        x, y: Arrays or scalars of any module.
        atol (float): Absolute tolerance.
        rtol (float): Tolerance relative to ``y``.
        verbose (bool): Whether the message shows the arrays.

    Raises:
        AssertionError: If they differ by more than ``atol + rtol * abs(y)``.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> gradient_check.assert_allclose(np.array([1., 2.]), [1., 2.0001])

    """
    _allclose.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)


# -- numerical gradients ------------------------------------------------------


def numerical_grad(
    f: Callable[..., Any],
    inputs: tuple[NdArray, ...],
    grad_outputs: tuple[NdArray, ...],
    eps: float = 1e-3,
    detect_nondifferentiable: bool = False,
    diff_atol: float = 0,
    diff_rtol: float = 1e-2,
    center_outputs: tuple[NdArray, ...] | None = None,
) -> list[NdArray]:
    r"""Computes gradients by finite differences.

    Estimates the gradient of :math:`\sum_j g_j \cdot y_j` with respect to each input element by
    the central difference :math:`(y(x + \epsilon) - y(x - \epsilon)) / 2\epsilon`.

    Args:
        f (callable): Function without arguments that computes a tuple of arrays from the current
            content of ``inputs``.
        inputs (tuple of arrays): Floating point arrays, changed in place during the computation
            and restored afterwards.
        grad_outputs (tuple of arrays): Gradients with respect to the outputs; ``None`` elements
            count as zero.
        eps (float): Step.
        detect_nondifferentiable (bool): Whether to look for points where the function is not
            smooth, by fitting a parabola to five values of each output element within the step.
        diff_atol (float): Absolute tolerance of that fit.
        diff_rtol (float): Tolerance of that fit relative to the range of the values.
        center_outputs (tuple of arrays): Outputs at the unchanged inputs, if known.

    Returns:
        list of arrays: Gradients, with shapes and dtypes of the inputs.

    Raises:
        AssertionError: If ``eps`` is not positive.
        RuntimeError: If an input is not of floating point.
        NondifferentiableError: If the requested check finds the function not differentiable.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1., 2.])
        >>> gx, = gradient_check.numerical_grad(lambda: (x * x,), (x,), (np.ones(2),))
        >>> gx.round(6)
        array([2., 4.])

    """
    assert eps > 0, f'eps must be positive: {eps}'
    inputs = tuple(inputs)
    grad_outputs = tuple(grad_outputs)
    for x in inputs:
        if x.dtype.kind != 'f':
            raise RuntimeError(f'The dtype of input arrays must be kind of float, not {x.dtype}')
    gys = [None if gy is None else _to_double(gy) for gy in grad_outputs]

    def evaluate():
        ys = f()
        if not isinstance(ys, (tuple, list)):
            ys = (ys,)
        if len(ys) != len(gys):
            raise ValueError(
                f'grad_outputs must have as many elements as the function has outputs: {len(gys)} '
                f'and {len(ys)}'
            )
        return [_copy_result(y) for y in ys]

    center = None
    if detect_nondifferentiable:
        center = evaluate() if center_outputs is None else [_copy_result(y) for y in center_outputs]
    return [
        _numerical_grad_of_input(evaluate, x, gys, eps, center, (diff_atol, diff_rtol))
        for x in inputs
    ]


def _numerical_grad_of_input(evaluate, x, gys, eps, center, tolerances):
    view = backend.from_chx(x)
    gx = numpy.zeros(x.shape, numpy.float64)

    def evaluate_at(index, value):
        view[index] = value
        return view[index].item(), evaluate()

    for index in numpy.ndindex(*x.shape):
        original = view[index].item()
        try:
            x0, ys0 = evaluate_at(index, original - eps)
            x1, ys1 = evaluate_at(index, original + eps)
            if center is not None:
                _, ys_left = evaluate_at(index, original - eps / 2)
                _, ys_right = evaluate_at(index, original + eps / 2)
                samples = zip(ys0, ys_left, center, ys_right, ys1)
                _check_differentiable(samples, index, eps, *tolerances)
        finally:
            view[index] = original
        # The step, rounded to the dtype of the input.
        step = x1 - x0 or 2 * eps
        for y0, y1, gy in zip(ys0, ys1, gys):
            if gy is not None:
                gx[index] += numpy.sum((_to_double(y1) - _to_double(y0)) * gy) / step
    gx = gx.astype(x.dtype)
    return backend.get_device_from_array(x).send(gx)


def _copy_result(y):
    # Functions may return their inputs, which change later.
    return None if y is None else numpy.array(backend.CpuDevice().send(y))


def _to_double(array):
    return backend.CpuDevice().send(array).astype(numpy.float64)


# Residuals of the least squares parabola through values at -1, -1/2, 0, 1/2, 1.
_vandermonde = numpy.vander([-1, -0.5, 0, 0.5, 1], 3)
_to_residuals = numpy.eye(5) - _vandermonde @ numpy.linalg.pinv(_vandermonde)


def _check_differentiable(samples_of_outputs, index, eps, atol, rtol):
    for i, samples in enumerate(samples_of_outputs):
        if samples[0] is None or samples[0].dtype.kind != 'f':
            continue
        ulp = numpy.finfo(samples[0].dtype).eps
        ys = numpy.stack([y.astype(numpy.float64).ravel() for y in samples])
        finite = numpy.isfinite(ys)
        same = (ys == ys[0]) | (numpy.isnan(ys) & numpy.isnan(ys[0]))
        bad = ~finite.all(axis=0) & ~same.all(axis=0)
        ys = numpy.where(finite.all(axis=0), ys, 0)
        residual = numpy.abs(_to_residuals @ ys).max(axis=0)
        # Rounding causes residuals, too.
        rounding = 8 * ulp * numpy.abs(ys).max(axis=0)
        bad |= residual > atol + rtol * numpy.ptp(ys, axis=0) + rounding
        if bad.any():
            where = numpy.flatnonzero(bad)
            j = where[0]
            values = ', '.join(str(y.ravel()[j]) for y in samples)
            place = numpy.unravel_index(j, samples[0].shape)
            raise NondifferentiableError(
                'Nondifferentiable input detected.\n'
                f'- eps: {eps}, diff_atol: {atol}, diff_rtol: {rtol}\n'
                f'- index in the input: {index}\n'
                f'- output {i}: {len(where)} of {ys.shape[1]} elements, the first one at '
                f'{tuple(map(int, place))}\n'
                f'- its values at -eps, -eps/2, 0, eps/2, eps: {values}'
            )


# -- checks of functions ------------------------------------------------------


def _as_tuple(x):
    if x is None:
        return ()
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _arrays_text(name, arrays):
    return ''.join(f'{name}[{i}]:\n{array}\n' for i, array in enumerate(arrays))


class _BackwardCheck:
    """Check of the gradients of one function at one point in a random direction."""

    def __init__(
        self,
        func: Any,
        x_data: Any,
        y_grad: Any,
        params: Any,
        eps: float,
        atol: float,
        rtol: float,
        no_grads: Any,
        dtype: DTypeSpec,
        detect_nondifferentiable: bool,
        link: Link | None,
    ) -> None:
        if dtype is not None and numpy.dtype(dtype).kind != 'f':
            raise ValueError(f'`dtype` is allowed only float type, not {dtype}')
        self.func = func
        self.x_data = _as_tuple(x_data)
        self.y_grad = None if y_grad is None else _as_tuple(y_grad)
        self.params = _as_tuple(params)
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.dtype = dtype
        self.detect_nondifferentiable = detect_nondifferentiable
        if no_grads is None:
            no_grads = [x.dtype.kind != 'f' for x in self.x_data]
        elif len(no_grads) != len(self.x_data):
            raise ValueError(
                'Length of no_grads param and xs should be same.\n'
                f'Actual: {len(no_grads)} != {len(self.x_data)}'
            )
        self.no_grads = no_grads
        self.link = link

    def run(self) -> None:
        xs, ys = self._forward(self.x_data)
        # Only now, because the call of a link may initialize them.
        for param in self.params:
            if param.array is None:
                raise ValueError(f'A parameter is not initialized: {param}')
        gys = self._get_grad_outputs(ys)
        variables = self._select(xs)
        directions = _random_directions([x.shape for x in variables])
        with _saved_grads(self.params):
            for param in self.params:
                param.cleargrad()
            _backward(ys, gys)
            for x, no_grad in zip(xs, self.no_grads):
                if no_grad and x.grad is not None:
                    raise RuntimeError(
                        f'gradient of int variable must be None: an input of dtype {x.dtype} that '
                        'no_grads excludes has a gradient'
                    )
            grads = [x.grad for x in variables]
        if not variables:
            return
        for x, gx in zip(variables, grads):
            if gx is not None and gx.shape != x.shape:
                raise ValueError(
                    f'the gradient of an input of shape {x.shape} has shape {gx.shape}'
                )

        actual = sum(
            [
                float(numpy.sum(_to_double(gx) * direction))
                for gx, direction in zip(grads, directions)
                if gx is not None
            ]
        )
        center = [y.array for y in ys] if self.dtype is None else None
        expected = self._numerical_gradient(gys, directions, center)
        self._compare(actual, expected, gys, directions, grads)

    def _select(self, xs):
        return [x for x, no_grad in zip(xs, self.no_grads) if not no_grad] + list(self.params)

    def _forward(self, x_data):
        xs = [
            # ChainerX takes no gradients of integers; other functions should give none.
            Variable(x, requires_grad=x.dtype.kind == 'f' or not isinstance(x, chainerx.ndarray))
            for x in x_data
        ]
        ys = _as_tuple(self.func(*xs))
        return xs, ys

    def _get_grad_outputs(self, ys):
        if self.y_grad is None:
            if len(ys) != 1 or ys[0].shape != ():
                raise ValueError(
                    'When `y_grad` is `None`, the function must return a zero-dimensional array'
                )
            array = ys[0].array
            return (backend.get_array_module(array).ones_like(array),)
        if len(self.y_grad) != len(ys):
            raise ValueError(
                '`y_grad` must have the same length of output values.\n'
                f'Actual: {len(self.y_grad)} != {len(ys)}'
            )
        for i, (y, gy) in enumerate(zip(ys, self.y_grad)):
            if gy is not None and gy.shape != y.shape:
                raise ValueError(
                    f'y_grad[{i}] must have the shape of the output: {gy.shape} != {y.shape}'
                )
        return self.y_grad

    def _numerical_gradient(self, gys, directions, center):
        """Directional derivative of the outputs, with the inputs in ``self.dtype``."""
        data = [self._cast(x) for x in self.x_data]
        param_data = [self._cast(param.array) for param in self.params]
        others = self._other_params()
        checked = [i for i, no_grad in enumerate(self.no_grads) if not no_grad]
        delta = numpy.zeros((), numpy.float64)

        def f():
            points = [
                _shift(x, float(delta), direction)
                for x, direction in zip([*[data[i] for i in checked], *param_data], directions)
            ]
            x_data = list(data)
            for i, x in zip(checked, points):
                x_data[i] = x
            for param, x in zip(self.params, points[len(checked) :]):
                _set_array(param, x)
            ys = self._forward(x_data)[1]
            return tuple([y.array for y in ys])

        changed = [*self.params, *others]
        arrays = [param.array for param in changed]
        with _saved_grads(changed):
            try:
                for param in others:
                    _set_array(param, self._cast(param.array))
                (grad,) = numerical_grad(
                    f, (delta,), gys, self.eps, self.detect_nondifferentiable, center_outputs=center
                )
            finally:
                # Before the gradients, which have the dtype of these arrays.
                for param, array in zip(changed, arrays):
                    _set_array(param, array)
        return float(grad)

    def _other_params(self):
        """Parameters of the link that are not checked, but need the dtype of the others."""
        if self.link is None or self.dtype is None:
            return []
        checked = {id(param) for param in self.params}
        return [
            param for param in self.link.params(include_uninit=False) if id(param) not in checked
        ]

    def _cast(self, array):
        if self.dtype is None or array.dtype.kind != 'f':
            return array
        return array.astype(self.dtype, copy=False)

    def _compare(self, actual, expected, gys, directions, grads):
        try:
            assert_allclose(actual, expected, atol=self.atol, rtol=self.rtol)
        except AssertionError as e:
            raise AssertionError(
                f'check_backward failed (eps={self.eps} atol={self.atol} rtol={self.rtol})\n'
                + _arrays_text('inputs', self.x_data)
                + _arrays_text('params', [param.array for param in self.params])
                + _arrays_text('grad_outputs', gys)
                + _arrays_text('directions', directions)
                + _arrays_text('gradients', grads)
                + f'gradients (numeric):  {expected}\ngradients (backward): {actual}\n\n{e}'
            ) from None


def _shift(array, delta, direction):
    device = backend.get_device_from_array(array)
    with backend.using_device(device):
        # NumPy turns 0-dimensional results into scalars.
        return device.xp.asarray(array + device.send((delta * direction).astype(array.dtype)))


def _set_array(variable, array):
    with warnings.catch_warnings():
        # `_saved_grads` puts gradients of another dtype aside.
        warnings.simplefilter('ignore', DeprecationWarning)
        variable.array = array


@contextlib.contextmanager
def _saved_grads(variables):
    """Lets the gradients be used freely."""
    grads = [x.grad_var for x in variables]
    for x in variables:
        x.cleargrad()
    try:
        yield
    finally:
        for x, grad in zip(variables, grads):
            x.cleargrad()
            if grad is not None:
                x.grad_var = grad


def _backward(ys, gys, enable_double_backprop=False):
    """Backpropagates from all outputs that have a gradient."""
    roots = {}
    for y, gy in zip(ys, gys):
        if gy is None:
            continue
        gy = as_variable(gy)
        if id(y) in roots:
            gy = roots[id(y)][1] + gy
        roots[id(y)] = y, gy
    outputs = []
    for y, gy in roots.values():
        if not isinstance(y, Variable):
            raise TypeError(f'the function must return variables, not {type(y)}')
        # Nothing flows back from a constant, such as an integer; on ChainerX it takes no gradient.
        if not y.requires_grad:
            continue
        # Also for an input returned unchanged.
        y.grad_var = gy
        outputs.append(y)
    if outputs:
        _backpropagate(outputs, enable_double_backprop=enable_double_backprop)


def _random_directions(shapes):
    """Makes vectors that together form a unit vector, so the step has length eps."""
    directions = [numpy.asarray(numpy.random.normal(size=shape)) for shape in shapes]
    # Small components would hide errors.
    directions = [numpy.where(v < 0, -1, 1) * numpy.maximum(numpy.abs(v), 0.1) for v in directions]
    norm = numpy.sqrt(sum([numpy.square(v).sum() for v in directions]))
    return [v / norm if norm > 0 else v for v in directions]


def check_backward(
    func: Callable[..., Any],
    x_data: NdArray | Sequence[NdArray],
    y_grad: NdArray | Sequence[NdArray | None] | None,
    params: Variable | Sequence[Variable] = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Checks the gradients of a function against numerical ones.

    Compares the gradients in one random direction of all inputs and parameters together. The
    check thus costs a few evaluations of the function for any size.

    Args:
        func (callable): Function that takes and returns variables, such as a link.
        x_data (array or tuple of arrays): Inputs.
        y_grad (array, tuple of arrays or None): Gradients with respect to the outputs. ``None``
            if there is a single output that is a scalar.
        params (~chainer.Variable or tuple of them): Parameters of ``func`` whose gradients are
            checked too. Their own gradients stay unchanged. Those that a call of ``func``
            initializes may be uninitialized.
        eps (float): Step of the numerical gradients.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        no_grads (list of bool): Which inputs must have no gradient; by default those without
            floating point dtype.
        dtype: Floating point dtype for the numerical gradients, to which inputs, parameters (also
            other ones of ``func`` if that is a link) and gradients are cast, such as float64 for a
            function in float16.
        detect_nondifferentiable (bool): Whether to look for points where the function is not
            smooth, such as the origin for ReLU.

    Raises:
        AssertionError: If the gradients differ. The message shows all values.
        NondifferentiableError: If the requested check finds the function not differentiable.
        RuntimeError: If an input that must have no gradient gets one.
        ValueError: If arguments do not match.

    See: :func:`numerical_grad`

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1, 2, 3], np.float32)
        >>> gy = np.array([1, -1, 1], np.float32)
        >>> gradient_check.check_backward(lambda x: x * x, x, gy, dtype=np.float64)

    """
    _check_link_backward(
        func if isinstance(func, Link) else None,
        func,
        x_data,
        y_grad,
        params,
        eps,
        atol,
        rtol,
        no_grads,
        dtype,
        detect_nondifferentiable,
    )


def _check_link_backward(
    link: Link | None,
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any,
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Implements the checks, of a function that may call ``link``."""
    _BackwardCheck(
        func,
        x_data,
        y_grad,
        params,
        eps,
        atol,
        rtol,
        no_grads,
        dtype,
        detect_nondifferentiable,
        link,
    ).run()


def check_double_backward(
    func: Callable[..., Any],
    x_data: NdArray | Sequence[NdArray],
    y_grad: NdArray | Sequence[NdArray],
    x_grad_grad: NdArray | Sequence[NdArray],
    params: Variable | Sequence[Variable] = (),
    params_grad_grad: NdArray | Sequence[NdArray] = (),
    eps: float = 1e-3,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Checks the gradients of the gradients of a function against numerical ones.

    Treats the backward computation of ``func`` as a function of the inputs and ``y_grad``, and
    passes it to :func:`check_backward`.

    Args:
        func (callable): Function that takes and returns variables.
        x_data (array or tuple of arrays): Inputs.
        y_grad (array or tuple of arrays): Gradients with respect to the outputs.
        x_grad_grad (array or tuple of arrays): Gradients with respect to the gradients of the
            inputs; those of inputs without gradient may be left out.
        params (~chainer.Variable or tuple of them): Parameters of ``func``.
        params_grad_grad (array or tuple of arrays): Gradients with respect to the gradients of
            the parameters.
        eps (float): Step of the numerical gradients.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        no_grads (list of bool): Which inputs have no gradient.
        dtype: Dtype for the numerical gradients; see :func:`check_backward`.
        detect_nondifferentiable (bool): Whether to look for points where the gradients are not
            smooth.

    Raises:
        AssertionError: If the gradients differ. The message shows all values.
        NondifferentiableError, RuntimeError, ValueError: As :func:`check_backward`.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1, 2, 3], np.float32)
        >>> gy = ggx = np.array([1, -1, 1], np.float32)
        >>> gradient_check.check_double_backward(lambda x: x * x, x, gy, ggx, dtype=np.float64)

    """
    x_data = _as_tuple(x_data)
    params = _as_tuple(params)
    y_grad = _as_tuple(y_grad)
    x_grad_grad = _as_tuple(x_grad_grad)
    params_grad_grad = _as_tuple(params_grad_grad)
    n_x = len(x_data)
    if len(params_grad_grad) != len(params):
        raise ValueError(
            'params_grad_grad must have one element per parameter: '
            f'{len(params_grad_grad)} != {len(params)}'
        )
    if no_grads is None:
        no_grads = [x.dtype.kind != 'f' for x in x_data]
    if len(x_grad_grad) == no_grads.count(False) < n_x:
        given_grads = iter(x_grad_grad)
        all_grads: list[Any] = [None if no_grad else next(given_grads) for no_grad in no_grads]
        x_grad_grad = tuple(all_grads)
    if len(x_grad_grad) != n_x:
        raise ValueError(
            f'x_grad_grad must have one element per input: {len(x_grad_grad)} != {n_x}'
        )
    # Outputs without a gradient are constant over all evaluations.
    given = [i for i, gy in enumerate(y_grad) if gy is not None]
    missing = [i for i, x in enumerate(x_grad_grad) if x is None]

    def first_order_grad(*inputs):
        xs = inputs[:n_x]
        gys = [None] * len(y_grad)
        for i, gy in zip(given, inputs[n_x:]):
            gys[i] = gy
        for x in (*xs, *params):
            x.cleargrad()
        ys = _as_tuple(func(*xs))
        if len(ys) != len(gys):
            raise ValueError(
                '`y_grad` must have the same length of output values.\n'
                f'Actual: {len(gys)} != {len(ys)}'
            )
        _backward(ys, gys, enable_double_backprop=True)
        gxs = []
        for i, (x, no_grad) in enumerate(zip((*xs, *params), [*no_grads, *[False] * len(params)])):
            gx = x.grad_var
            x.cleargrad()
            if no_grad or i in missing:
                continue
            if gx is None:
                raise RuntimeError(
                    f'the function gives no gradient of input {i}, which no_grads does not exclude'
                )
            gxs.append(gx)
        return tuple(gxs)

    ggxs = [ggx for ggx, no_grad in zip(x_grad_grad, no_grads) if not no_grad and ggx is not None]
    inputs = (*x_data, *[y_grad[i] for i in given])
    try:
        _check_link_backward(
            func if isinstance(func, Link) else None,
            first_order_grad,
            inputs,
            (*ggxs, *params_grad_grad),
            params,
            eps,
            atol,
            rtol,
            [*no_grads, *[False] * len(given)],
            dtype,
            detect_nondifferentiable,
        )
    except AssertionError as e:
        raise AssertionError(
            f'check_double_backward failed (eps={eps} atol={atol} rtol={rtol})\n\n{e}'
        ) from None


def _check_backward_with_params(
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Like :func:`check_backward`, of a function of a tuple of inputs and one of parameters.

    Args:
        func (callable): Function that takes two tuples of variables.
        params (array or tuple of arrays): Parameters.

    """
    x_data, params = _as_tuple(x_data), _as_tuple(params)
    n = len(x_data)
    if no_grads is None:
        no_grads = [x.dtype.kind != 'f' for x in x_data]
    check_backward(
        lambda *xs: func(xs[:n], xs[n:]),
        (*x_data, *params),
        y_grad,
        (),
        eps,
        atol,
        rtol,
        [*no_grads, *[False] * len(params)],
        dtype,
        detect_nondifferentiable,
    )
