"""The common part of the update rules of this package."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.optimizers import step
from chainer.optimizer import Hyperparameter, UpdateRule

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter
    from chainer.variable import Parameter


def set_numbers(hyperparam: Hyperparameter, **values: Any) -> None:
    """Sets hyperparameters that are numbers, or objects that stand for one.

    Args:
        hyperparam (Hyperparameter): Hyperparameters.
        values: Values by name.

    Raises:
        TypeError: A value is something else; no hyperparameter is set then.

    """
    # All are looked at before one is set, so that an error changes nothing.
    for name, value in values.items():
        if not hasattr(type(value), '__float__') and value is not None:
            _refuse(name, value)
    for name, value in values.items():
        setattr(hyperparam, name, value)


def _refuse(name, value):
    what = repr(value) if isinstance(value, (str, bytes, complex)) else f'a {type(value).__name__}'
    message = f'{name} must be a number, but {what} was given'
    if isinstance(value, str):
        # Chainer 7 refuses it later, at the first update.
        warnings.warn(message, stacklevel=5)
        return
    if not isinstance(value, (bytes, complex)):
        message += '. An optimizer takes its parameters from a model, by optimizer.setup(model)'
    raise TypeError(message)


class ElementwiseRule(UpdateRule):
    """Update rule that treats every element of a parameter alike.

    A subclass defines the defaults of its hyperparameters, the names of its state
    arrays, the name of the rule in ChainerX, whose kernel makes the step if
    ChainerX is built, and ``_step``, the same step as array operations for NumPy
    without ChainerX and for CuPy. Both round alike. The rule updates float16
    parameters in float32.
    """

    is_elementwise = True

    _defaults: dict[str, Any] = {}
    _state_names: tuple[str, ...] = ()
    _chainerx_name: str | None = None  # of the update rule in ChainerX

    def __init__(self, parent_hyperparam: Hyperparameter | None = None, **values: Any) -> None:
        if parent_hyperparam is None:
            parent_hyperparam = Hyperparameter()
            parent_hyperparam.__dict__.update(self._defaults)
        super().__init__(parent_hyperparam)
        given = {name: value for name, value in values.items() if value is not None}
        set_numbers(self.hyperparam, **given)

    def init_state(self, param: Parameter) -> None:
        state: Any = self.state
        with backend.using_device(param.device):
            xp = param.device.xp
            for name in self._state_names:
                state[name] = xp.zeros_like(param.array)

    def _scalars(self):
        """Returns the scalar arguments of the step, by default the hyperparameters."""
        hyperparam = self.hyperparam
        return [getattr(hyperparam, name) for name in self._defaults]

    def _step(self, p, g, *args):
        """Updates the array ``p`` and the state arrays in place.

        ``args`` are the state arrays, then the scalars. NumPy's functions work
        on CuPy arrays, too.
        """
        raise NotImplementedError

    def _check_eps(self, dtype):
        if 'eps' not in self._defaults:
            return
        eps = self.hyperparam.eps
        dtype = numpy.promote_types(dtype, numpy.float32)
        # A division by zero would make parameters NaN at the first gradient of zeros.
        if eps != 0 and dtype.type(eps) == 0:
            name = type(self).__name__.removesuffix('Rule')
            raise ValueError(f'eps of {name} optimizer is too small for {dtype.name} ({eps})')

    def _scalars_for(self, dtype):
        """Returns the scalars as Python numbers, to which dtypes do not adapt."""
        self._check_eps(dtype)
        return [value if type(value) is float else _to_number(value) for value in self._scalars()]

    def _step_of(self, columns):
        """Returns the step that updates columns of arrays."""
        scalars = self._scalars_for(columns[0][0].dtype)
        return step.Step(self._chainerx_name, self._step, columns, scalars)

    def _step_for(self, param):
        """Returns the step that updates a parameter."""
        states = [[self._state[name]] for name in self._state_names]
        return self._step_of([[param.array], [param.grad], *states])

    def update_core_cpu(self, param: Parameter) -> None:
        if param.grad is not None:
            self._step_for(param).run_on_numpy([0])

    def update_core_gpu(self, param: Parameter) -> None:
        if param.grad is not None:
            self._step_for(param).run_on_cupy()

    def update_core_chainerx(self, param: Parameter) -> None:
        if param.grad is None:
            return
        array: Any = param.array
        is_cuda = array.device.backend.name == 'cuda'
        method = 'update_core_gpu' if is_cuda else 'update_core_cpu'
        is_overridden = getattr(type(self), method) is not getattr(ElementwiseRule, method)
        if is_overridden or not self._step_for(param).run_on_chainerx():
            super().update_core_chainerx(param)

    @classmethod
    def _is_only_a_step(cls):
        return all(getattr(cls, name) is getattr(ElementwiseRule, name) for name in _UPDATES)


_UPDATES = 'update', 'update_core', 'update_core_cpu', 'update_core_gpu', 'update_core_chainerx'


def _to_number(value):
    # An array may have a value for each element.
    return value if getattr(value, 'ndim', 0) else float(value)
