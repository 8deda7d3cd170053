"""Backpropagation: the walk from outputs of a graph back to its inputs.

Gradients are plain arrays, or variables with double backprop, which also records the walk. In both
cases the tape of each function computes them (see :mod:`chainer._core.autograd.tape`).
"""

from __future__ import annotations

import contextlib
import heapq
import threading
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import numpy

import chainerx
from chainer import backend, configuration
from chainer._core.autograd import fresh_gradients
from chainer._core.autograd.gradients import Gradients, Owners, check_grad, find_nan, force_array
from chainer._core.autograd.tape import raw, watched_grad
from chainer._core.autograd.variable_node import BaseVariable
from chainer._core.names.set_module import set_module
from chainer.backends import cuda
from chainer.function_hook import get_function_hooks
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.variables.variable import Variable
    from chainer.function_hook import FunctionHook
    from chainer.function_node import FunctionNode

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray
_config = configuration.config


def refuse_gradient(
    func: FunctionNode,
    index: int,
    grad: Any,
    shape: tuple[int, ...] | None,
    dtype: numpy.dtype[Any] | None,
) -> NoReturn:
    """Raises an error for a gradient that does not fit input ``index`` of a function.

    Raises:
        TypeError: If the gradient is not an array or has another dtype.
        ValueError: If it has another shape.

    """
    is_array = hasattr(grad, 'dtype')
    kind = ValueError if is_array and grad.dtype == dtype and grad.shape != shape else TypeError
    raise kind(describe_misfit(func, index, grad, shape, dtype))


def describe_misfit(
    func: FunctionNode,
    index: int,
    grad: Any,
    shape: tuple[int, ...] | None,
    dtype: numpy.dtype[Any] | None,
) -> str:
    """Describes a gradient that does not fit; in debug mode with the call of the function."""
    actual = f'is of {type(grad)}'
    if hasattr(grad, 'dtype'):
        actual += f', shape {grad.shape} and dtype {grad.dtype}'
    message = (
        f'{func.label} (Backward): gradient of input {index} {actual}, expected an array '
        f'of shape {shape} and dtype {dtype}'
    )
    if func.stack:
        message += f'\nThe function was called here:\n{"".join(func.stack.format())}'
    return message


def _backward_one(
    func: FunctionNode,
    targets: tuple[int, ...],
    grad_outputs: tuple[Any, ...],
    grads: Gradients,
    double: bool,
    hooks: Sequence[FunctionHook],
) -> None:
    """Runs the backward of one function and adds its results to ``grads``."""
    inputs = func.inputs
    if hooks:
        in_data = tuple([x._data for x in inputs])
        out_grad = tuple([raw(g) for g in grad_outputs])
        for hook in hooks:
            hook.backward_preprocess(func, in_data, out_grad)

    if hooks and not double:
        gxs = watched_grad(func, targets, grad_outputs, grads)
    else:
        gxs = func._tape.grad(func, targets, grad_outputs, double, grads)
    for index, grad in zip(targets, gxs):
        if grad is not None:
            node = inputs[index]
            try:
                fits = grad.shape == node.shape and grad.dtype == node.dtype
            except AttributeError:
                fits = False
            if not fits:
                refuse_gradient(func, index, grad, node.shape, node.dtype)
            grads.add(node, grad)
            if hooks and not func.lazy_grad_sum:
                grads.sum_watched(node)
    if hooks:
        for hook in hooks:
            hook.backward_postprocess(func, in_data, out_grad)
    if _config.debug and find_nan([raw(g) for g in gxs if g is not None]):
        raise RuntimeError(f'NaN is detected on backward computation of {func.label}')


class _Queue:
    """Functions still to be differentiated, last made first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, FunctionNode]] = []
        self._seen: set[FunctionNode] = set()

    def push(self, func: FunctionNode | None) -> None:
        if func is not None and func not in self._seen:
            self._seen.add(func)
            # The count breaks ties, so that functions are never compared.
            heapq.heappush(self._heap, (-func.rank, len(self._seen), func))

    def __iter__(self) -> Iterator[FunctionNode]:
        while self._heap:
            yield heapq.heappop(self._heap)[2]


def hooks_of(
    func: FunctionNode, thread_hooks: dict[str, FunctionHook] | None
) -> Sequence[FunctionHook]:
    """Returns the hooks of the thread and of the function, in the order in which they run."""
    own = getattr(func._extras, 'hooks', None)
    if thread_hooks or own:
        return [*(thread_hooks or {}).values(), *(own or {}).values()]
    return ()


def _walk(
    queue: _Queue,
    grads: Gradients,
    double: bool,
    store: Callable[[VariableNode, Any], None],
    allowed: set[VariableNode] | None = None,
    keep: Collection[VariableNode] = (),
    used: Callable[[VariableNode], None] | None = None,
) -> dict[VariableNode, None]:
    """Differentiates the functions of ``queue`` and those behind them.

    Args:
        store: Called with the node and gradient of every processed output.
        allowed: Nodes that the walk may visit (``None``: all).
        keep: Nodes whose gradients stay in ``grads``.
        used: Called with a leaf after each function that uses it.

    Returns:
        Visited leaf nodes; their gradients are in ``grads``.

    """
    thread_hooks = get_function_hooks()
    leaves: dict[VariableNode, None] = {}
    for func in queue:
        outputs = []
        gys = []
        some_gy = None
        for ref in func.outputs:
            y = ref()
            gy = None
            # A node without a creator is cut off: it is a leaf now.
            if y is not None and y._creator_node is not None:
                gy = grads.peek(y) if y in keep else grads.pop(y)
                if gy is not None:
                    some_gy = gy
                outputs.append((y, gy))
            gys.append(gy)
        inputs = func.inputs
        targets = tuple(
            [
                i
                for i, x in enumerate(inputs)
                if x.requires_grad and (allowed is None or x in allowed)
            ]
        )
        if not targets:
            continue
        if some_gy is not None:
            hooks: Sequence[FunctionHook] = ()
            extras = func._extras
            if thread_hooks or extras is not None:
                hooks = hooks_of(func, thread_hooks)
                if extras is not None and extras.contents is not None:
                    extras.contents.check(func)
            if isinstance(some_gy, _ndarray):
                _backward_one(func, targets, tuple(gys), grads, double, hooks)
            else:
                with _device_of(raw(some_gy)):
                    _backward_one(func, targets, tuple(gys), grads, double, hooks)
        for y, gy in outputs:
            store(y, gy)
        for index in targets:
            node = inputs[index]
            if node._creator_node is None:
                leaves[node] = None
                if used is not None:
                    used(node)
            else:
                queue.push(node._creator_node)
    return leaves


class _Watchers(threading.local):
    """What watches the backward passes of a thread."""

    on_ready: Callable[[Variable], None] | None = None


_watchers = _Watchers()


@contextlib.contextmanager
def watching_leaves(on_ready: Callable[[Variable], None]) -> Iterator[None]:
    """Context in which a backward tells of each leaf variable once its gradient is complete.

    Does not concern ChainerX's arrays, nor backward passes that are recorded.

    Args:
        on_ready: Called with the variable, which has its gradient, while the backward goes on.

    """
    before, _watchers.on_ready = _watchers.on_ready, on_ready
    try:
        yield
    finally:
        _watchers.on_ready = before


class _LeafCounter:
    """Counts the functions that a leaf's gradient still lacks.

    Args:
        funcs: Functions that the backward starts from.
        on_complete: Called with each leaf that no function is left for.

    """

    def __init__(
        self, funcs: Iterable[FunctionNode], on_complete: Callable[[VariableNode], None]
    ) -> None:
        self._on_complete = on_complete
        self._left: dict[VariableNode, int] = {}
        stack = list(funcs)
        seen = set(stack)
        while stack:
            for node in stack.pop().inputs:
                if node.requires_grad:
                    creator = node._creator_node
                    if creator is None:
                        self._left[node] = self._left.get(node, 0) + 1
                    elif creator not in seen:
                        seen.add(creator)
                        stack.append(creator)

    def __call__(self, node: VariableNode) -> None:
        self._left[node] -= 1
        if self._left[node] == 0:
            self._on_complete(node)


_no_device = contextlib.nullcontext()


def _device_of(array: Any) -> AbstractContextManager[Any]:
    if isinstance(array, numpy.ndarray):
        return _no_device
    return backend.using_device(backend.get_device_from_array(array))


def _store(node: VariableNode, grad: Any) -> None:
    """Gives a gradient to the variable of a node, if it still exists."""
    var = node._variable()
    if var is not None:
        _give(var, grad)


def _give(var: Variable, grad: Any) -> None:
    if grad is None:
        var._grad = var._grad_var = None
    elif hasattr(grad, 'raw_array'):
        var._grad = grad._array
        var._grad_var = grad
    else:
        var._grad = grad
        var._grad_var = None


def _scaled_root(array: Any, grad: Any, loss_scale: float | None) -> Any:
    if grad is None:
        grad = cuda.get_array_module(array).ones_like(array)
        if loss_scale is not None:
            grad *= loss_scale
    elif loss_scale is not None:
        grad = force_array(grad * array.dtype.type(loss_scale))
    return grad


def _scalar_warning(what: str) -> None:
    warnings.warn(
        f'Treating a variable with only one element as a scalar in {what} is '
        'deprecated: a scalar variable has no dimensions. Apply '
        'chainer.functions.squeeze to it.',
        DeprecationWarning,
        stacklevel=5,
    )


def backward_from_variable(
    var: Variable, retain_grad: bool, enable_double_backprop: bool, loss_scale: float | None
) -> None:
    """Implements :meth:`chainer.Variable.backward`."""
    array = var._array
    is_one = array.size == 1
    if is_one and array.ndim and var.grad is None:
        _scalar_warning('Variable.backward')
    if isinstance(array, _chx_ndarray):
        if fresh_gradients.shown:
            fresh_gradients.hide()
        array.backward(
            enable_double_backprop=enable_double_backprop,
            loss_scale=loss_scale,
            retain_grad=retain_grad,
        )
        return
    has_grad = var._grad is not None or var._fresh_grad
    is_leaf = var.creator_node is None
    if is_leaf and (has_grad or not is_one):
        return
    if not has_grad and not is_one:
        raise ValueError(
            f'backward() of a variable of shape {var.shape} needs a gradient: set '
            'variable.grad first, or reduce the variable to a scalar (chainer.functions.sum)'
        )
    if not has_grad or loss_scale is not None:
        with _device_of(array):
            var._set_grad(_scaled_root(array, var._grad, loss_scale))
    if not is_leaf:
        grad = var.grad_var if enable_double_backprop else var._grad
        _backward([(var._node, grad)], retain_grad, enable_double_backprop, loss_scale)


@set_module('chainer')
def backward(
    outputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    **kwargs: Any,
) -> None:
    """Runs backpropagation from several variables at once.

    A shared input gets the gradients of all outputs in one pass. Unlike
    :meth:`chainer.Variable.backward` this sets no gradient: outputs without one count as constants.

    Args:
        outputs (sequence of Variable): Variables to start from.
        grad_outputs (sequence of Variable, optional): Gradients of the outputs, of their shapes
            and dtypes. By default the gradients set before, which the call takes away.
        retain_grad (bool): Whether outputs and intermediate variables keep their gradients
            (default: ``False``).
        enable_double_backprop (bool): Whether the backward pass is recorded (default:
            ``False``).
        loss_scale (float or None): Factor of the initial gradients.

    Raises:
        TypeError: If ``outputs`` is not a sequence of variables.
        ValueError: If the numbers of outputs and gradients differ.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> h = x * x
        >>> one = chainer.Variable(np.array(1, np.float32))
        >>> chainer.backward([F.sum(h), F.max(h)], [one, one])
        >>> x.grad
        array([2., 8.], dtype=float32)

    """
    retain_grad, enable_double_backprop, loss_scale = argument.parse_kwargs(
        kwargs, ('retain_grad', False), ('enable_double_backprop', False), ('loss_scale', None)
    )
    if not isinstance(outputs, (tuple, list)):
        raise TypeError(f'outputs must be a tuple or a list, not {type(outputs)}')
    for y in outputs:
        if not isinstance(y, BaseVariable):
            raise TypeError(f'outputs must be variables, got {type(y)}')
    if grad_outputs is not None:
        if not isinstance(grad_outputs, (tuple, list)):
            raise TypeError(
                f'grad_outputs must be None, a tuple or a list, not {type(grad_outputs)}'
            )
        if len(outputs) != len(grad_outputs):
            raise ValueError(
                'grad_outputs must be of the same length as outputs: '
                f'{len(grad_outputs)} != {len(outputs)}'
            )
    chainerx_outputs = [isinstance(y._array, _chx_ndarray) for y in outputs]
    if any(chainerx_outputs):
        if not all(chainerx_outputs):
            raise ValueError('outputs mix ChainerX and other arrays')
        if grad_outputs is not None:
            for y, gy in zip(outputs, grad_outputs):
                y.grad_var = gy
        if fresh_gradients.shown:
            fresh_gradients.hide()
        chainerx.backward(
            [y._array for y in outputs],
            loss_scale=loss_scale,
            enable_double_backprop=enable_double_backprop,
            retain_grad=retain_grad,
        )
        return
    double = enable_double_backprop
    roots = []
    for y, gy in zip(outputs, _take_gradients(outputs) if grad_outputs is None else grad_outputs):
        if gy is not None:
            check_grad(y._array, gy._array, 'grad_outputs')
            if loss_scale is not None:
                with configuration.using_config('enable_backprop', bool(double)):
                    gy = gy * loss_scale
            roots.append((y.node, gy if double else gy._array))
    _backward(roots, retain_grad, double, loss_scale)


def _take_gradients(outputs: Sequence[Variable]) -> list[Variable | None]:
    """Takes the gradients of variables away from them."""
    grads = []
    for y in outputs:
        grad = y.grad_var
        if grad is None:
            warnings.warn(
                'chainer.backward ignores outputs without a gradient, and it does not repeat those '
                'given twice. Set their gradients first or give grad_outputs.',
                RuntimeWarning,
                stacklevel=3,
            )
        y.grad_var = None
        grads.append(grad)
    return grads


def _backward(
    roots: Sequence[tuple[VariableNode, Any]],
    retain_grad: bool,
    double: bool,
    loss_scale: float | None,
) -> None:
    grads = Gradients(load=True, as_variables=double)
    queue = _Queue()
    own = _keep if double else Owners().own
    leaves: dict[VariableNode, None] = {}
    for node, grad in roots:
        if not retain_grad:
            own(grad)
        grads.add(node, grad)
        if node._creator_node is None:
            leaves[node] = None
        else:
            queue.push(node._creator_node)

    # Annotations would cost time at each definition of the function.
    def store(node, grad):  # type: ignore[no-untyped-def]
        if grad is not None:
            grad = own(grad) if retain_grad else None
        _store(node, grad)

    used = None
    on_ready = _watchers.on_ready
    if on_ready is not None and not double:

        def on_complete(node: VariableNode) -> None:
            is_root = node in leaves
            grad = grads.pop(node) if node in grads and not is_root else None
            leaf = None if grad is None else _finish(node, own(grad), loss_scale)
            if leaf is not None:
                on_ready(leaf)

        used = _LeafCounter([entry[2] for entry in queue._heap], on_complete)
    with configuration.using_config('enable_backprop', bool(double)):
        leaves.update(_walk(queue, grads, double, store, used=used))
    for node in leaves:
        if node in grads:
            grad = grads.pop(node)
            if grad is not None:
                _finish(node, own(grad), loss_scale)


def _finish(node: VariableNode, grad: Any, loss_scale: float | None) -> Variable | None:
    """Gives a leaf its complete gradient; returns its variable, if that still exists."""
    leaf = node._variable()
    if leaf is not None:
        _give(leaf, grad)
        leaf._loss_scale = loss_scale
    return leaf


def unchain_backward(node: VariableNode) -> None:
    """Cuts every edge from ``node`` back to the leaves."""
    stack = [node]
    seen: set[FunctionNode] = set()
    while stack:
        node = stack.pop()
        func = node._creator_node
        if func is None or func in seen:
            continue
        seen.add(func)
        stack.extend(func.inputs)
        func.unchain()


@set_module('chainer.function_node')
def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    grad_inputs: Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Computes the gradients of ``outputs`` with respect to ``inputs`` only.

    Unlike :meth:`chainer.Variable.backward` this differentiates only the functions on a path
    between inputs and outputs, and by default changes no variable.

    Args:
        outputs (tuple or list of Variable): Variables to differentiate.
        inputs (tuple or list of Variable): Variables to differentiate by.
        grad_outputs (sequence of Variable or None): Gradients of the outputs, of their shapes
            and dtypes (default: ones).
        grad_inputs (sequence of Variable or None): Gradients to add to the results.
        set_grad (bool): Whether to store results in ``grad_var`` of the inputs, too.
        retain_grad (bool): Whether to store gradients in intermediate variables, too.
        enable_double_backprop (bool): Whether results can be differentiated again.
        loss_scale (float or None): Factor of the initial gradients.

    Returns:
        list of Variable or None: One gradient per input, ``None`` where no path leads to it.

    Raises:
        TypeError: If an argument is not a sequence of variables.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> gx, = chainer.grad([x * x * x], [x], enable_double_backprop=True)
        >>> gx  # 3 x^2
        variable([ 3., 12.])
        >>> chainer.grad([gx], [x])  # 6 x
        [variable([ 6., 12.])]
        >>> x.grad is None
        True

    """
    _check_sequence('outputs', outputs, BaseVariable)
    _check_sequence('inputs', inputs, BaseVariable)
    for name, values, others in (
        ('grad_outputs', grad_outputs, outputs),
        ('grad_inputs', grad_inputs, inputs),
    ):
        if values is not None:
            _check_sequence(name, values, (BaseVariable, type(None)))
            if len(values) != len(others):
                raise ValueError(f'{name} has {len(values)} elements, expected {len(others)}')
    if any(isinstance(v._array, _chx_ndarray) for v in (*outputs, *inputs)):
        return _grad_chainerx(
            outputs,
            inputs,
            grad_outputs,
            grad_inputs,
            set_grad,
            retain_grad,
            enable_double_backprop,
            loss_scale,
        )

    double = enable_double_backprop
    allowed = _nodes_between(outputs, inputs)
    grads = Gradients(load=False, as_variables=double)
    own = _keep if double else Owners().own
    queue = _Queue()
    input_nodes = {x.node for x in inputs}
    with configuration.using_config('enable_backprop', bool(double)):
        if grad_inputs is not None:
            for x, gx in zip(inputs, grad_inputs):
                if gx is not None:
                    grads.add(x.node, gx if double else gx._array)
        for i, y in enumerate(outputs):
            gy: Any = None if grad_outputs is None else grad_outputs[i]
            if gy is not None and double and loss_scale is None:
                grads.add(y.node, gy)
            else:
                if gy is not None and double:
                    scaled = gy * loss_scale
                else:
                    with _device_of(y._array):
                        array = _scaled_root(y._array, raw(gy), loss_scale)
                    own(array)
                    scaled = BaseVariable._from_array(array, True) if double else array
                grads.add(y.node, scaled)
            if y.node in allowed:
                queue.push(y.node._creator_node)
        _walk(queue, grads, double, _store if retain_grad else _ignore, allowed, input_nodes)
        results = []
        for x in inputs:
            gx = grads.peek(x.node) if x.node in grads else None
            if gx is not None and not double:
                gx = BaseVariable._from_array(own(gx), True)
            if set_grad and gx is not None:
                x.grad_var = gx
            results.append(gx)
    return results


def _ignore(node: VariableNode, grad: Any) -> None:
    pass


def _keep(grad: Any) -> Any:
    return grad


def _check_sequence(name: str, values: Any, types: type | tuple[type, ...]) -> None:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f'{name} must be a tuple or a list, not {type(values)}')
    for value in values:
        if not isinstance(value, types):
            raise TypeError(f'{name} must contain variables, got {type(value)}')


def _grad_chainerx(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None,
    grad_inputs: Sequence[Variable | None] | None,
    set_grad: bool,
    retain_grad: bool,
    double: bool,
    loss_scale: float | None,
) -> list[Variable | None]:
    gys = [None if gy is None else gy._array for gy in grad_outputs or ()]
    gxs = chainerx.grad(
        [y._array for y in outputs],
        [x._array for x in inputs],
        enable_double_backprop=double,
        set_grad=set_grad,
        retain_grad=retain_grad,
        grad_outputs=gys,
        loss_scale=loss_scale,
    )
    results: list[Variable | None] = [
        None if gx is None else BaseVariable._from_array(gx, gx.is_backprop_required())
        for gx in gxs
    ]
    if grad_inputs is not None:
        results = [
            a if b is None else b if a is None else a + b for a, b in zip(results, grad_inputs)
        ]
        if set_grad:
            for x, gx in zip(inputs, results):
                if gx is not None:
                    x.grad_var = gx
    return results


def _nodes_between(outputs: Sequence[Variable], inputs: Sequence[Variable]) -> set[VariableNode]:
    """Returns the nodes on a path from an input to an output."""
    found = {x.node for x in inputs}
    # A function that uses an input, even indirectly, has at least its rank.
    lowest = min([x.rank for x in found], default=0)
    funcs: list[FunctionNode] = []
    seen: set[FunctionNode] = set()
    stack = [y.node._creator_node for y in outputs]
    while stack:
        func = stack.pop()
        if func is None or func.rank < lowest or func in seen:
            continue
        seen.add(func)
        funcs.append(func)
        stack.extend([x._creator_node for x in func.inputs if x.requires_grad])
    # A function has a larger rank than its predecessors.
    funcs.sort(key=lambda f: f.rank)
    for func in funcs:
        if any(x in found for x in func.inputs if x.requires_grad):
            found.update(y for y in (ref() for ref in func.outputs) if y is not None)
    return found
