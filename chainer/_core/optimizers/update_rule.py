"""Update rules, one for each parameter."""

from __future__ import annotations

import collections
import copy
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, serializer as serializer_module
from chainer._core.autograd.variable_gradient import unscale_grad
from chainer._core.models import saving
from chainer._core.optimizers import (
    hook_registry as _hook_registry,
    rule_state,
    state_files as _state_files,
)
from chainer._core.optimizers.hyperparameter import Hyperparameter
from chainer._core.reports import representation
from chainer._core.settings.half import is_half
from chainer._core.variables.parameter import Parameter
from chainer._core.variables.variable import Variable
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer

_chx_ndarray = chainerx.ndarray


class UpdateRule:
    """Base class of update rules, which update one parameter and keep its state.

    Every parameter has its own update rule. Subclasses define :meth:`init_state`,
    and :meth:`update_core` or its variants for devices.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters of the optimizer.

    Attributes:
        enabled (bool): Whether to update the parameter.
        hyperparam (Hyperparameter): Hyperparameters of this parameter.
        t (int): Number of updates so far.

    .. seealso:: :meth:`add_hook` for hooks of one parameter.

    .. admonition:: Example

        >>> class SignRule(chainer.UpdateRule):
        ...     def update_core(self, param):
        ...         param.array -= self.hyperparam.lr * np.sign(param.grad)
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([3, -4], np.float32)
        >>> param.update_rule = SignRule()
        >>> param.update_rule.hyperparam.lr = 0.5
        >>> param.update()
        >>> param.array, param.update_rule.t
        (array([0.5, 2.5], dtype=float32), 1)

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    t: int

    __module__ = 'chainer.optimizer'  # the name in pickles and messages

    is_elementwise = False

    _own_values: Any = None  # further values that an update depends on
    _state_folder: str | None = None

    def __init__(self, parent_hyperparam: Hyperparameter | None = None) -> None:
        self._pre_update_hooks: collections.OrderedDict[str, Callable[..., Any]] = (
            collections.OrderedDict()
        )
        self._post_update_hooks: collections.OrderedDict[str, Callable[..., Any]] = (
            collections.OrderedDict()
        )
        # None until the first update, from which a load tells a rule that has not begun.
        self._state: Any = None
        self.enabled = True
        self.hyperparam: Hyperparameter = Hyperparameter(parent_hyperparam)
        self.t = 0
        self._use_fp32_update = False
        self._fp32_param: Any = None

    @property
    def state(self) -> dict[str, Any] | None:
        """Dictionary of the state arrays, or ``None`` before the first update."""
        return self._state

    def add_hook(
        self, hook: Callable[..., Any], name: str | None = None, timing: str = 'auto'
    ) -> None:
        """Adds a hook, called as ``hook(rule, param)`` at every update.

        Args:
            hook (callable): The hook.
            name (str): Its name. If ``None``, ``hook.name`` or the name of the
                function.
            timing (str): ``'pre'`` or ``'post'`` (before or after the update),
                or ``'auto'``: ``hook.timing`` if it exists, else ``'pre'``.

        Raises:
            KeyError: If the name is taken.

        """
        _hook_registry.add(self._pre_update_hooks, self._post_update_hooks, hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: If there is no such hook.

        """
        _hook_registry.remove(self._pre_update_hooks, self._post_update_hooks, name)

    def update(self, param: Parameter) -> None:
        """Calls the hooks and updates a parameter, unless the rule is disabled.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        if not self.enabled:
            return
        # Before all else: bias corrections and hooks read the number of this update.
        self.t += 1
        array = param._array
        # Kernels of CuPy run on the current device, whatever that of their arrays is.
        if isinstance(array, cuda.ndarray):
            with array.device:
                self._update(param)
        else:
            self._update(param)

    def _update(self, param: Parameter) -> None:
        # For wider dtypes a float32 copy would be no more exact.
        if self._use_fp32_update and param.array is not None and is_half(param.dtype):
            self._update_fp32(param)
        else:
            self._update_with_hooks(param)

    def _update_with_hooks(self, param: Parameter) -> None:
        if param.array is not None:
            self._prepare(param)
        # Hooks of rules get true gradients. Those of optimizers run earlier and get scaled ones.
        if param._loss_scale is not None:
            unscale_grad(param)
        for hook in self._pre_update_hooks.values():
            hook(self, param)
        self.update_core(param)
        for hook in self._post_update_hooks.values():
            hook(self, param)

    def _update_fp32(self, param: Parameter) -> None:
        """Updates the float32 master copy of a float16 parameter."""
        # A step is often smaller than half the distance from one float16 number to the next: added
        # to the parameter itself it would be lost. In the copy, steps add up.
        self._update_with_hooks(self._take_master(param))
        self._give_master(param)

    def _take_master(self, param: Parameter) -> Parameter:
        """Returns the master copy, with the gradient and the loss scale of the parameter."""
        master = self._fp32_param
        # After a move to another device the copy follows, as its value is more exact than the
        # parameter's.
        if master is None or not param.device.is_array_supported(master.array):
            array = (param if master is None else master).array
            array = param.device.send(array).astype(numpy.float32)
            master = self._set_master(array, param.name)
        grad = param.grad
        if grad is not None:
            # First float32, then the quotient, which float16 could round to zero.
            grad = grad.astype(numpy.float32)
            if param._loss_scale is not None:
                grad /= param._loss_scale
        param._loss_scale = None
        master._set_grad(grad)
        return master

    def _set_master(self, array: Any, name: str | None = None) -> Parameter:
        """Makes the master copy of an array, in a file if the state is."""
        if self._state_folder is not None:
            array = _state_files.moved(array, self._state_folder)
        self._fp32_param = Parameter(array, name=name)
        return self._fp32_param

    def _give_master(self, param: Parameter) -> None:
        """Copies the value of the master copy to the parameter."""
        master = self._fp32_param
        # It would keep memory of twice the parameter's size until the next update.
        master.cleargrad()
        array = param._array
        if type(array) is _chx_ndarray:
            # One pass, and the array keeps its gradient. Plans of `chainer.compile` read it there.
            target, source = array.as_grad_stopped(), master.array.as_grad_stopped()
            chainerx.copyto(target, source, casting='unsafe')
            return
        # The conversion makes an array anyway. To copy it into the old one would be a second pass.
        param.array = master.array.astype(param.dtype)

    def update_core(self, param: Parameter) -> None:
        """Updates a parameter, without hooks.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        # NumPy has no current device to set, and to look for it would cost more than small updates.
        if type(param.array) is numpy.ndarray:
            self.update_core_cpu(param)
            return
        device = param.device
        with backend.using_device(device):
            if device.xp is numpy:
                self.update_core_cpu(param)
            elif device.xp is cuda.cupy:
                self.update_core_gpu(param)
            else:
                self.update_core_chainerx(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter on the CPU.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        raise NotImplementedError(
            f'{type(self).__name__} overrides neither update_core nor update_core_cpu'
        )

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter on a GPU.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        raise NotImplementedError(
            f'{type(self).__name__} overrides neither update_core nor update_core_gpu'
        )

    def update_core_chainerx(self, param: Parameter) -> None:
        """Updates a parameter that is a ChainerX array.

        By default :meth:`update_core_cpu` or :meth:`update_core_gpu` runs on
        NumPy or CuPy arrays that share the memory.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        rule_state.update_core_by_sharing(self, param)

    def init_state(self, param: Parameter) -> None:
        """Initializes the entries of :attr:`state`.

        Args:
            param (chainer.Parameter): Parameter to update.

        """

    def _prepare(self, param: Parameter) -> None:
        """Makes the state, or moves it to the device of the parameter."""
        # Not at the setup: a lazy parameter gets its shape at the first call of its link.
        state = self._state
        if state is None:
            self._state = {}
            with backend.using_device(param.device):
                self.init_state(param)
        elif not state or not rule_state.move_state(state, param):
            return
        self._place_state()

    def _place_state(self) -> None:
        if self._state_folder is not None and self._state:
            _state_files.place(self._state, self._state_folder)

    def use_fp32_update(self, flag: bool = True) -> None:
        """Updates float16 parameters through a float32 master copy.

        Args:
            flag (bool): ``True`` to use a master copy.

        """
        # Parameters of other dtypes never get a copy; those of half precision at an update.
        self._use_fp32_update = flag

    def _use_state_files(self, folder: str | None) -> None:
        """Keeps the state and the master copy in files of a folder, or ``None`` for memory."""
        if folder != self._state_folder:
            if self._state:
                _state_files.place(self._state, folder)
            master = self._fp32_param
            if master is not None:
                array = _state_files.moved(master.array, folder)
                self._fp32_param = Parameter(array, name=master.name)
        self._state_folder = folder

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state.

        Loading gives an unused rule the stored state.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer.

        """
        saving.remember(serializer, self)
        # First, because a rule that has been updated must find a state in the file.
        self.t = serializer('t', self.t)
        loading = isinstance(serializer, serializer_module.Deserializer)
        if self._state is None:
            if loading:
                self._state = self._load_state(serializer)
        else:
            self._state = {key: serializer(key, value) for key, value in self._state.items()}
        if loading:
            self._place_state()
        if self._use_fp32_update and saving.takes_extras(serializer):
            self._serialize_master(serializer, loading)

    def _load_state(self, serializer: Any) -> dict[str, Any] | None:
        """Returns the stored state, or ``None`` if the snapshot has none."""
        # Use the dictionary of this rule, also for an init_state set from outside.
        self._state = {}
        probe: Any = copy.copy(self)
        array = numpy.zeros(1, dtype=numpy.float32)
        try:
            probe.init_state(Variable(array, grad=array))
        finally:
            self._state = None
        # Names of states are known only from `init_state`, which an array of one element shows.
        state = {}
        for key in probe._state:
            try:
                state[key] = serializer(key, None)
            except KeyError:
                # A rule has no state before its first update, and a disabled one may never get one.
                if self.t == 0 or not self.enabled:
                    return None
                raise
        # Serializers that leave out missing values give the current one, which is None.
        if state and all(value is None for value in state.values()):
            return None
        return state

    def _serialize_master(self, serializer: Any, loading: bool) -> None:
        master = self._fp32_param
        try:
            array = serializer('_fp32_param', None if master is None else master.array)
        except KeyError:  # for example a file of Chainer 7
            array = None
        if loading and master is None and array is not None:
            self._set_master(array)


def master_of(rule: UpdateRule) -> Any:
    """Returns the float32 copy of its parameter that a rule updates instead, if it has one."""
    master = rule._fp32_param
    return None if master is None else master.raw_array
