"""Update rules whose update is one step for all elements, and groups of them that make it at once.

The rules of :mod:`chainer.optimizers` are of this kind.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd.variable_gradient import unscale_grad
from chainer._core.optimizers.hyperparameter import Hyperparameter
from chainer._core.optimizers.step import Step, are_numbers
from chainer._core.optimizers.update_rule import UpdateRule
from chainer._core.settings.half import is_half
from chainer._core.variables.parameter import Parameter
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.optimizers.step import Buffers

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray


def arguments_of(variables: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a method by name.

    Constructors with many hyperparameters pass all of them on. A list of them stands in the
    signature, where users and type checkers read it, and need not stand there again.

    Args:
        variables: ``locals()`` of the method, before it assigns to others.

    """
    return {name: value for name, value in variables.items() if name not in ('self', '__class__')}


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


def _refuse(name: str, value: Any) -> None:
    what = repr(value) if isinstance(value, (str, bytes, complex)) else f'a {type(value).__name__}'
    message = f'{name} must be a number, but {what} was given'
    if isinstance(value, str):
        # Chainer 7 refuses it later, at the first update.
        warnings.warn(message, stacklevel=5)
        return
    if not isinstance(value, (bytes, complex)):
        # Mostly a model or its parameters, which optimizers of other libraries take.
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
    _chainerx_name: str = ''  # of the update rule in ChainerX

    def __init__(self, parent_hyperparam: Hyperparameter | None = None, **values: Any) -> None:
        if parent_hyperparam is None:
            # A rule without an optimizer gets a parent of its own with the defaults: as in other
            # rules, `self.hyperparam` then has nothing but the values of this parameter.
            parent_hyperparam = Hyperparameter()
            parent_hyperparam.__dict__.update(self._defaults)
        super().__init__(parent_hyperparam)
        given = {name: value for name, value in values.items() if value is not None}
        set_numbers(self.hyperparam, **given)

    def init_state(self, param: Parameter) -> None:
        state: Any = self.state
        # Programs may call this, too, and CuPy allocates on the current device.
        with backend.using_device(param.device):
            xp = param.device.xp
            for name in self._state_names:
                state[name] = xp.zeros_like(param.array)

    def _replace_state(self, k: int, array: Any) -> None:
        """Makes another array the ``k``-th of the state."""
        self._state[self._state_names[k]] = array

    def _scalars(self) -> Sequence[Any]:
        """Returns the scalar arguments of the step, by default the hyperparameters."""
        hyperparam = self.hyperparam
        return [getattr(hyperparam, name) for name in self._defaults]

    def _step(self, p: Any, g: Any, /, *args: Any) -> None:
        """Updates the array ``p`` and the state arrays in place.

        ``args`` are the state arrays, then the scalars. NumPy's functions work
        on CuPy arrays, too.
        """
        # An implementation takes its operations in the order of the functor in
        # `chainerx_cc/chainerx/ops/optimizer.h`. Both then round alike, so a training has the same
        # bits with and without ChainerX, one by one and in groups. What depends on scalars alone is
        # computed from Python floats, in double precision, as the functor's constructor does.
        raise NotImplementedError

    def _check_eps(self, dtype: Any) -> None:
        if 'eps' not in self._defaults:
            return
        eps = self.hyperparam.eps
        dtype = numpy.promote_types(dtype, numpy.float32)
        # A division by zero would make parameters NaN at the first gradient of zeros.
        if eps != 0 and dtype.type(eps) == 0:
            name = type(self).__name__.removesuffix('Rule')
            raise ValueError(f'eps of {name} optimizer is too small for {dtype.name} ({eps})')

    def _checked_scalars(self, dtype: Any) -> list[Any]:
        """Returns the scalars as Python numbers, to which dtypes do not adapt."""
        self._check_eps(dtype)
        # With a scalar of NumPy's float64, NumPy 2 would compute in float64 and round otherwise.
        return [value if type(value) is float else _to_number(value) for value in self._scalars()]

    def _make_step(self, columns: list[list[Any]]) -> Step:
        """Returns the step that updates columns of arrays."""
        scalars = self._checked_scalars(columns[0][0].dtype)
        return Step(self._chainerx_name, self._step, columns, scalars)

    def _make_own_step(self, param: Parameter) -> Step:
        """Returns the step that updates a parameter."""
        states = [[self._state[name]] for name in self._state_names]
        return self._make_step([[param.array], [param.grad], *states])

    def update_core_cpu(self, param: Parameter) -> None:
        if param.grad is not None:
            self._make_own_step(param).run_on_numpy([0])

    def update_core_gpu(self, param: Parameter) -> None:
        if param.grad is not None:
            self._make_own_step(param).run_on_cupy()

    def update_core_chainerx(self, param: Parameter) -> None:
        if param.grad is None:
            return
        array: Any = param.array
        # A subclass of a program may override the method for its arrays only. On ChainerX, too, it
        # then runs, on NumPy or CuPy arrays that share the memory.
        is_cuda = array.device.backend.name == 'cuda'
        method = 'update_core_gpu' if is_cuda else 'update_core_cpu'
        is_overridden = getattr(type(self), method) is not getattr(ElementwiseRule, method)
        if is_overridden or not self._make_own_step(param).run_on_chainerx():
            super().update_core_chainerx(param)


def _to_number(value: Any) -> Any:
    # An array may have a value for each element.
    return value if getattr(value, 'ndim', 0) else float(value)


#: All methods of a rule by which a parameter is updated.
_UPDATES = 'update', 'update_core', 'update_core_cpu', 'update_core_gpu', 'update_core_chainerx'


@functools.cache
def is_plain(rule_class: type[UpdateRule], param_class: type[Parameter]) -> bool:
    """Tells whether an update is just the step of the rule's class.

    Groups bypass the methods that update one parameter, so no subclass may have its own.
    """
    return (
        param_class.update is Parameter.update
        and issubclass(rule_class, ElementwiseRule)
        and all(getattr(rule_class, name) is getattr(ElementwiseRule, name) for name in _UPDATES)
    )


class Group:
    """Parameters of one device and dtype whose rules make the same step."""

    def __init__(self) -> None:
        self.params: list[Parameter] = []
        self.rules: list[Any] = []
        self.arrays: list[Any] = []
        self.grads: list[Any] = []

    @classmethod
    def of_one(cls, param: Parameter) -> Group | None:
        """Returns a group of one parameter, if its update is a step, besides hooks of its rule."""
        rule: Any = param.update_rule
        # mypy thinks that classes with `__hash__` are unhashable.
        if not is_plain(type(rule), type(param)):  # type: ignore[arg-type]
            return None
        group = cls()
        group.params.append(param)
        group.rules.append(rule)
        group.arrays.append(param.raw_array)
        group.grads.append(param.grad)
        return group

    def has_masters(self) -> bool:
        """Tells whether the step is made on float32 copies."""
        return self.rules[0]._use_fp32_update and is_half(self.arrays[0].dtype)

    def count(self) -> None:
        """Counts an update."""
        # Rules of a group have equal counts, which are a part of its key.
        t = self.rules[0].t + 1
        for rule in self.rules:
            rule.t = t

    def step(self) -> Step:
        """Returns the step of the update counted last."""
        step: Step = self.rules[0]._make_step([self.arrays, self.grads, *self._states()])
        return step

    def next_scalars(self) -> list[float] | None:
        """Returns the scalars of the next step, or ``None`` if one kernel cannot make it."""
        rule = self.rules[0]
        t = rule.t
        if any([r.t != t for r in self.rules]):
            return None
        # Scalars such as Adam's step size depend on the count, which must stay if this is all.
        rule.t = t + 1
        try:
            scalars: list[float] = rule._checked_scalars(self.arrays[0].dtype)
        finally:
            rule.t = t
        return scalars if are_numbers(scalars) else None

    def update(self, buffers: Buffers) -> None:
        """Updates the parameters."""
        self.count()
        # CuPy computes on the current device, whatever that of the arrays is.
        if type(self.arrays[0]) is cuda.ndarray:
            with self.arrays[0].device:
                self._update(buffers)
        else:
            self._update(buffers)

    def _update(self, buffers: Buffers) -> None:
        if self.has_masters():
            self.take_masters()._run(buffers)
            self.give_masters()
            return
        # Backward passes of NumPy and CuPy arrays leave the loss scale in the gradients.
        for i, param in enumerate(self.params):
            if param._loss_scale is not None:
                unscale_grad(param)
                self.grads[i] = param.grad
        self._run(buffers)

    def take_masters(self) -> Group:
        """Returns the group of the float32 copies, whose gradients have no loss scale any more."""
        group = Group()
        group.rules = self.rules
        group.params = [rule._take_master(param) for rule, param in zip(self.rules, self.params)]
        group.arrays = [master.array for master in group.params]
        group.grads = [master.grad for master in group.params]
        return group

    def give_masters(self) -> None:
        """Copies the values of the float32 copies to the parameters."""
        for rule, param in zip(self.rules, self.params):
            rule._give_master(param)

    def _run(self, buffers: Buffers) -> None:
        step = self.step()
        if type(self.arrays[0]) is _ndarray:
            buffers.run(step, self.rules)
        elif type(self.arrays[0]) is not _chx_ndarray:
            step.run_on_cupy()
        elif not step.run_on_chainerx():
            # Not `update`, which would count the step again.
            for rule, param in zip(self.rules, self.params):
                rule.update_core(param)

    def _states(self) -> list[list[Any]]:
        """Returns the arrays of each kind of state, on the device of the parameters."""
        # To look first whether all is in place costs less than to prepare each parameter, and from
        # the second update on it mostly is.
        names = self.rules[0]._state_names
        dicts = [rule._state for rule in self.rules]
        if all([state is not None for state in dicts]):
            states = [[state[name] for state in dicts] for name in names]
            if all(map(self._are_here, states)):
                return states
        for rule, param in zip(self.rules, self.params):
            rule._prepare(param)
        return [[rule._state[name] for rule in self.rules] for name in names]

    def _are_here(self, arrays: Any) -> bool:
        if type(self.arrays[0]) is _ndarray:
            return {*map(type, arrays)} == {_ndarray}
        device = self.arrays[0].device
        if type(self.arrays[0]) is not _chx_ndarray:
            index = device.id
            return all([type(a) is cuda.ndarray and a.device.id == index for a in arrays])
        # A device of ChainerX is one object, so its identity tells as much as a comparison, sooner.
        return all([type(array) is _chx_ndarray and array.device is device for array in arrays])
