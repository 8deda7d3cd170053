"""The compiled kernels of ChainerX under functions of NumPy arrays.

A function with ``_native_inputs`` runs its ``forward_chainerx`` on views of its NumPy inputs, and
gives views of what comes out. What ChainerX recorded meanwhile is kept as a ``_Subgraph``, which is
the backward of the function: no array is copied, and gradients of any order follow from it.
Whatever is unusual about the arrays, or goes wrong, is left to the NumPy code.
"""

from __future__ import annotations

import numpy

import chainerx
from chainer import configuration
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.variable import Variable

_config = configuration.config

if chainerx.is_available():
    from chainerx import _core


def views(arrays, device):
    """ChainerX arrays of ``device`` over the memory of NumPy arrays; ``None`` if that cannot be."""
    xs = _core._numpy_views(arrays, [False] * len(arrays))
    return xs if xs is not None and xs[0].device == device else None


def _least_size(func):
    """Number of elements of all inputs from which on kernels are used."""
    setting = _config.use_native_kernels
    if setting == 'auto':
        return func._least_native_size
    if setting == 'always':
        return 0
    if setting == 'never':
        return numpy.inf
    raise ValueError(
        f'invalid use_native_kernels configuration: {setting!r} '
        "(must be 'always', 'auto', or 'never')"
    )


def forward(func, in_vars, in_data):
    """Outputs of a function, or ``None`` if its NumPy code has to compute them."""
    func._native_graph = None
    size = 0
    for x in in_data:
        size += x.size
    if size < _least_size(func):
        return None
    enable_backprop = bool(_config.enable_backprop)
    xs = _core._numpy_views(in_data, [enable_backprop and x._requires_grad for x in in_vars])
    if xs is None:
        return None
    try:
        ys = func.forward_chainerx(xs)
    except Exception:
        # If it is the user's, the NumPy code has a better error for it.
        return None
    if ys is Fallback:
        return None
    func._output_indexes_to_retain = ()
    func._input_indexes_to_retain = func._native_inputs
    outputs, func._native_graph = _core._numpy_outputs(xs, ys)
    return outputs


def backward(func, targets, grad_outputs, double):
    """Gradients of the inputs of a function that ran on kernels: arrays or, recorded, variables."""
    graph = func._native_graph
    if not double:
        return graph.numpy_grad(targets, grad_outputs)
    gys = _core._numpy_gradients([None if gy is None else gy._array for gy in grad_outputs])
    present = []
    for gy, var in zip(gys, grad_outputs):
        if gy is not None:
            present.append(var)
            if var._requires_grad:
                gy.require_grad()
    gys_present = [gy for gy in gys if gy is not None]
    with chainerx.force_backprop_mode(gys_present[0].device.context):
        gxs = graph.grad(targets, gys)
        known = [gx for gx in gxs if gx is not None]
        required = [gx.is_backprop_required() for gx in known]
    arrays, _ = _core._numpy_outputs(gys_present, known)
    results = [Variable._from_array(*pair) for pair in zip(arrays, required)]
    if any(required):
        node = _Gradients(func.label)
        node._native_graph = graph.of_gradients(gys_present, known)
        # What a variable of an input holds does not matter: ChainerX keeps what it needs.
        node._record([*[x.get_variable() for x in func.inputs], *present], results)
    results = iter(results)
    return tuple([None if gx is None else next(results) for gx in gxs])


class _Gradients(FunctionNode):
    """Gradients from kernels, as a function of the inputs and the gradients of the outputs."""

    def __init__(self, of):
        self._of = of

    @property
    def label(self):
        return f'{self._of}Grad'
