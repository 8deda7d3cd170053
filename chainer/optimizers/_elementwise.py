"""The common part of the update rules of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import _native_kernels, _update, optimizer
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter
    from chainer.variable import Parameter

_BLOCK = 131072  # elements


def make_hyperparam(**values):
    hyperparam = optimizer.Hyperparameter()
    hyperparam.__dict__.update(values)
    return hyperparam


class ElementwiseRule(optimizer.UpdateRule):
    """Update rule that treats every element of a parameter alike.

    A subclass states its hyperparameters and state arrays, and its step three
    times: for NumPy as ``_step``, for CuPy as CUDA code, and as the name of the
    rule in ChainerX. float16 parameters are computed in float32.

    The CUDA code gets the element of the parameter as ``param``, of the
    gradient as ``grad``, those of the state and the scalars under their names.
    """

    is_elementwise = True

    _default_hyperparam = None
    _state_names = ()
    _scalar_names = ()  # by default the names of the hyperparameters
    _gpu_code = None
    _chainerx_name = None  # of the update rule in ChainerX

    def __init__(self, parent_hyperparam: Hyperparameter | None = None, **values: Any) -> None:
        super().__init__(parent_hyperparam or self._default_hyperparam)
        for name, value in values.items():
            if value is not None:
                setattr(self.hyperparam, name, value)

    def init_state(self, param: Parameter) -> None:
        with chainer.using_device(param.device):
            xp = param.device.xp
            for name in self._state_names:
                self.state[name] = xp.zeros_like(param.array)

    def _scalars(self):
        """Returns the scalar arguments of the step."""
        hyperparam = self.hyperparam
        return tuple([getattr(hyperparam, name) for name in self._scalar_names])

    def _step(self, p, g, *args):
        """Updates the array ``p`` and the state arrays in place.

        ``args`` are the state arrays, then the scalars.
        """
        raise NotImplementedError

    def _check_eps(self, dtype):
        if 'eps' not in self._scalar_names:
            return
        eps = self.hyperparam.eps
        if eps != 0 and dtype.type(eps) == 0:
            name = type(self).__name__.removesuffix('Rule')
            raise ValueError(f'eps of {name} optimizer is too small for {dtype.name} ({eps})')

    def _scalars_for(self, dtype):
        """Returns the scalars as Python numbers, to which dtypes do not adapt."""
        self._check_eps(numpy.promote_types(dtype, numpy.float32))
        return [value if type(value) is float else _to_number(value) for value in self._scalars()]

    def _step_on(self, arrays, scalars):
        """Runs the step on NumPy arrays: by a kernel, or in blocks for the cache and for memory."""
        views = _native_kernels.update_views(arrays)
        if views is not None and _update.run_kernel(self._chainerx_name, views, scalars):
            return
        size = arrays[0].size
        if size > 8 * _BLOCK and all([array.flags.c_contiguous for array in arrays]):
            arrays = [array.reshape(-1) for array in arrays]
            for start in range(0, size, _BLOCK):
                self._step_block([a[start : start + _BLOCK] for a in arrays], scalars)
        else:
            self._step_block(arrays, scalars)

    def _step_block(self, arrays, scalars):
        if arrays[0].ndim == 0:  # which NumPy 1 would compute in float64
            arrays = [array.reshape(1) for array in arrays]
        if arrays[0].dtype != numpy.float16:
            self._step(*arrays, *scalars)
            return
        wide = [array.astype(numpy.float32) for array in arrays]
        self._step(*wide, *scalars)
        for k, array in enumerate(arrays):
            if k != 1:  # the gradient has not changed
                array[...] = wide[k]

    def _arrays(self, param):
        state = self._state
        return [param.array, param.grad, *[state[name] for name in self._state_names]]

    def update_core_cpu(self, param: Parameter) -> None:
        if param.grad is not None:
            self._step_on(self._arrays(param), self._scalars_for(param.dtype))

    def update_core_chainerx(self, param: Parameter) -> None:
        if param.grad is None:
            return
        is_overridden = type(self).update_core_cpu is not ElementwiseRule.update_core_cpu
        if is_overridden or not _update.run_kernel(
            self._chainerx_name, self._arrays(param), self._scalars_for(param.dtype)
        ):
            super().update_core_chainerx(param)

    def update_core_gpu(self, param: Parameter) -> None:
        if param.grad is None:
            return
        dtype = numpy.promote_types(param.dtype, numpy.float32)
        kernel = _kernel(
            type(self).__name__.lower(),
            dtype.name,
            self._state_names,
            self._scalar_names,
            self._gpu_code,
        )
        array, grad, *state = self._arrays(param)
        kernel(grad, *self._scalars_for(dtype), array, *state)


def _to_number(value):
    # An array may have a value for each element.
    return value if getattr(value, 'ndim', 0) else float(value)


def _kernel(name, dtype, state_names, scalar_names, code):
    outs = ['param', *state_names]
    ins = ['T grad_', *[f'{dtype} {scalar}' for scalar in scalar_names]]
    load = ''.join(f'S {out} = static_cast<S>({out}_);' for out in ['grad', *outs])
    store = ''.join(f'{out}_ = static_cast<T>({out});' for out in outs)
    c_type = 'double' if dtype == 'float64' else 'float'
    return cuda.elementwise(
        ', '.join(ins),
        ', '.join(f'T {out}_' for out in outs),
        f'typedef {c_type} S; {load} {code} {store}',
        name,
    )
