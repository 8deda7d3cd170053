"""The base classes of optimizers and update rules."""

from __future__ import annotations

import collections
import copy
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import (
    _optimizer_hooks,
    _update,
    link as link_module,
    optimizer_hooks,
    serializer as serializer_module,
    variable,
)
from chainer.optimizer_hooks import _base as hooks_base

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer
    from chainer.variable import Parameter


class Hyperparameter:
    """A set of hyperparameters, which falls back to a parent set.

    A value is set as an attribute. An attribute that is not set is taken from
    the parent, so that a parameter's update rule follows the optimizer except
    where it has its own value.

    Args:
        parent (Hyperparameter): Parent set, or ``None``.

    .. admonition:: Example

        >>> from chainer import optimizer
        >>> parent = optimizer.Hyperparameter()
        >>> parent.lr = 0.1
        >>> child = optimizer.Hyperparameter(parent)
        >>> child.lr
        0.1
        >>> child.lr = 0.2
        >>> parent.lr
        0.1

    """

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        self._parent = parent

    def __getattr__(self, name: str) -> Any:
        # While unpickling there is no _parent yet.
        parent = self.__dict__.get('_parent')
        if parent is None or name == '_parent':
            raise AttributeError(f'{type(self).__name__} has no value of {name!r}')
        return getattr(parent, name)

    def __repr__(self) -> str:
        values = ', '.join(f'{name}={value}' for name, value in sorted(self.get_dict().items()))
        return f'{type(self).__name__}({values})'

    @property
    def parent(self) -> Hyperparameter | None:
        """The parent set, or ``None``."""
        return self._parent

    def get_dict(self) -> dict[str, Any]:
        """Returns a dictionary of all values, those of the parent included."""
        values = {} if self._parent is None else self._parent.get_dict()
        values.update(self.__dict__)
        del values['_parent']
        return values


class HyperparameterProxy:
    """Descriptor that shows an entry of ``self.hyperparam`` as an attribute.

    Args:
        attr_name (str): Name of the hyperparameter.

    .. admonition:: Example

        >>> class Method(chainer.GradientMethod):
        ...     lr = chainer.optimizer.HyperparameterProxy('lr')
        >>> method = Method()
        >>> method.lr = 0.1
        >>> method.hyperparam
        Hyperparameter(lr=0.1)

    """

    def __init__(self, attr_name: str) -> None:
        self._attr_name = attr_name
        self.__doc__ = f'Alias to ``self.hyperparam.{attr_name}``'

    def __get__(self, obj: object, type: Any = None) -> Any:
        if obj is None:
            return self
        return getattr(obj.hyperparam, self._attr_name)

    def __set__(self, obj: object, value: Any) -> None:
        setattr(obj.hyperparam, self._attr_name, value)


class UpdateRule:
    """Base class of update rules: how one parameter is updated, and its state.

    Every parameter has its own update rule. Subclasses define
    :meth:`init_state`, and :meth:`update_core` or its variants by device.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters of the optimizer.

    Attributes:
        enabled (bool): If ``False``, the parameter is not updated.
        hyperparam (Hyperparameter): Hyperparameters of this parameter.
        t (int): Number of updates made.

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

    is_elementwise = False

    _own_values = None  # what an update depends on beside the hyperparameters and the state

    t: int

    def __init__(self, parent_hyperparam: Hyperparameter | None = None) -> None:
        self._pre_update_hooks = collections.OrderedDict()
        self._post_update_hooks = collections.OrderedDict()
        self._state = None
        self.enabled = True
        self.hyperparam: Hyperparameter = Hyperparameter(parent_hyperparam)
        self.t = 0
        self._use_fp32_update = False
        self._fp32_param = None

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
                or ``'auto'``: ``hook.timing`` if there is such, or else
                ``'pre'``.

        Raises:
            ValueError: The name is taken.

        """
        _optimizer_hooks.add(self, hook, name, timing, duplicate=ValueError)

    def remove_hook(self, name: str) -> None:
        """Removes a hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: There is no such hook.

        """
        _optimizer_hooks.remove(self, name)

    def update(self, param: Parameter) -> None:
        """Calls the hooks and updates a parameter, unless the rule is disabled.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        if not self.enabled:
            return
        self.t += 1
        if self._use_fp32_update and param.dtype == numpy.float16:
            self._update_fp32(param)
        else:
            self._update_with_hooks(param)

    def _update_with_hooks(self, param):
        if param.array is not None:
            self._prepare(param)
        if param._loss_scale is not None:
            _update.unscale_grad(param)
        for hook in self._pre_update_hooks.values():
            hook(self, param)
        self.update_core(param)
        for hook in self._post_update_hooks.values():
            hook(self, param)

    def _update_fp32(self, param):
        """Updates the float32 master copy of a float16 parameter."""
        self._update_with_hooks(self._take_master(param))
        self._give_master(param)

    def _take_master(self, param):
        """Returns the master copy, with the gradient and the loss scale of the parameter."""
        master = self._fp32_param
        if master is None or not param.device.is_array_supported(master.array):
            array = (param if master is None else master).array
            master = variable.Parameter(
                param.device.send(array).astype(numpy.float32), name=param.name
            )
            self._fp32_param = master
        grad = param.grad
        if grad is not None:
            grad = grad.astype(numpy.float32)
            if param._loss_scale is not None:
                grad /= param._loss_scale
        param._loss_scale = None
        master._set_grad(grad)
        return master

    def _give_master(self, param):
        """Brings the value of the master copy to the parameter."""
        master = self._fp32_param
        master.cleargrad()
        param.array = master.array.astype(param.dtype)

    def update_core(self, param: Parameter) -> None:
        """Updates a parameter, without hooks.

        Args:
            param (chainer.Parameter): Parameter to update.

        """
        if type(param.array) is numpy.ndarray:
            self.update_core_cpu(param)
            return
        device = param.device
        with chainer.using_device(device):
            if device.xp is numpy:
                self.update_core_cpu(param)
            elif device.xp is chainer.backends.cuda.cupy:
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
        _update.update_core_by_sharing(self, param)

    def init_state(self, param: Parameter) -> None:
        """Initializes the entries of :attr:`state`.

        Args:
            param (chainer.Parameter): Parameter that is going to be updated.

        """

    def _prepare(self, param):
        """Makes the state, or moves it to the device of the parameter."""
        state = self._state
        if state is None:
            self._state = {}
            with chainer.using_device(param.device):
                self.init_state(param)
        elif state:
            _update.move_state(state, param)

    def use_fp32_update(self, flag: bool = True) -> None:
        """Makes float16 parameters be updated through a float32 master copy.

        Args:
            flag (bool): ``True`` to use a master copy.

        """
        self._use_fp32_update = flag

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state.

        A rule that was never used gets its state from what is stored.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer.

        """
        serializer_module._remember(serializer, self)
        self.t = serializer('t', self.t)
        loading = isinstance(serializer, chainer.Deserializer)
        if self._state is None:
            if loading:
                self._state = self._load_state(serializer)
        else:
            self._state = {key: serializer(key, value) for key, value in self._state.items()}
        if self._use_fp32_update:
            self._serialize_master(serializer, loading)

    def _load_state(self, serializer):
        """Returns the stored state, or ``None`` if it was stored before it existed."""
        # The dictionary is that of this rule, too, for an init_state that was set from outside.
        self._state = {}
        probe = copy.copy(self)
        array = numpy.zeros(1, dtype=numpy.float32)
        try:
            probe.init_state(variable.Variable(array, grad=array))
        finally:
            self._state = None
        state = {}
        for key in probe._state:
            try:
                state[key] = serializer(key, None)
            except KeyError:
                if self.t == 0 or not self.enabled:
                    return None
                raise
        if state and all(value is None for value in state.values()):
            return None
        return state

    def _serialize_master(self, serializer, loading):
        master = self._fp32_param
        try:
            array = serializer('_fp32_param', None if master is None else master.array)
        except KeyError:  # not stored by versions before 8
            array = None
        if loading and master is None and array is not None:
            self._fp32_param = variable.Parameter(array)


class Optimizer:
    """Base class of optimizers.

    Attributes:
        target (chainer.Link): The link whose parameters are optimized, set by
            :meth:`setup`.
        t (int): Number of updates made.
        epoch (int): Number of epochs made.
        use_auto_new_epoch (bool): If ``True``, the updater, not the training
            loop, calls :meth:`new_epoch`.

    .. admonition:: Example

        >>> model = L.Linear(2, 1)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> isinstance(optimizer, chainer.Optimizer), optimizer.target is model
        (True, True)
        >>> optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
        >>> optimizer.update(lambda: F.sum(model(np.ones((3, 2), np.float32))))
        >>> optimizer.t
        1

    """

    target: Any = None
    t: int = 0
    epoch: int = 0
    use_auto_new_epoch = False
    _pre_update_hooks = None
    _post_update_hooks = None
    _loss_scale = None
    _loss_scale_max = 65504.0  # the largest float16
    _loss_scaling_is_dynamic = False
    _loss_scaling_multiplier = 1.0
    _loss_scaling_isnan = False
    _loss_scaling_isnan_ever = False

    def setup(self, link: Link) -> Self:
        """Sets the link to optimize, and starts counting anew.

        Args:
            link (chainer.Link): The link.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: ``link`` is no link.

        """
        if not isinstance(link, link_module.Link):
            raise TypeError(f'optimization target must be a link, but {type(link)} was given')
        self.target = link
        self.t = 0
        self.epoch = 0
        self._pre_update_hooks = collections.OrderedDict()
        self._post_update_hooks = collections.OrderedDict()
        return self

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters.

        Args:
            lossfun (callable): Loss function. If ``None``, the gradients that
                are there are used.
            args, kwds: Arguments of the loss function.

        """
        raise NotImplementedError

    def new_epoch(self, auto: bool = False) -> None:
        """Counts an epoch.

        Args:
            auto (bool): ``True`` when called by an updater.

        Raises:
            RuntimeError: ``auto`` disagrees with ``use_auto_new_epoch``.

        """
        if auto != self.use_auto_new_epoch:
            raise RuntimeError(
                'new_epoch(auto=True) needs use_auto_new_epoch to be True'
                if auto
                else 'use_auto_new_epoch is True, so that epochs are counted by the updater'
            )
        self.epoch += 1

    # -- hooks

    def add_hook(
        self, hook: Callable[..., Any], name: str | None = None, timing: str = 'auto'
    ) -> None:
        """Adds a hook, called at every update.

        It is called as ``hook(optimizer)``, or, if it has a true attribute
        ``call_for_each_param``, as ``hook(rule, param)`` for every parameter.

        Args:
            hook (callable): The hook.
            name (str): Its name. If ``None``, ``hook.name`` or the name of the
                function.
            timing (str): ``'pre'`` or ``'post'`` (before or after the update),
                or ``'auto'``: ``hook.timing`` if there is such, or else
                ``'pre'``.

        Raises:
            RuntimeError: :meth:`setup` has not been called.
            KeyError: The name is taken.

        """
        if self._pre_update_hooks is None:
            raise RuntimeError('call `setup` method before `add_hook` method')
        _optimizer_hooks.add(self, hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: There is no such hook.

        """
        if self._pre_update_hooks is None:
            raise RuntimeError('call `setup` method before `remove_hook` method')
        _optimizer_hooks.remove(self, name)

    def call_hooks(self, timing: str = 'pre') -> None:
        """Calls the hooks of a timing.

        Args:
            timing (str): ``'pre'`` or ``'post'``.

        """
        if timing not in ('pre', 'post'):
            raise ValueError(f"timing must be 'pre' or 'post', but {timing!r} was given")
        hooks = self._pre_update_hooks if timing == 'pre' else self._post_update_hooks
        for hook in hooks.values():
            self.call_hook(hook)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Calls one hook.

        Args:
            hook (callable): The hook.

        """
        if getattr(hook, 'call_for_each_param', False):
            hooks_base.call_for_each_param(hook, self.target.params())
        else:
            hook(self)

    # -- loss scaling

    def set_loss_scale(self, loss_scale: float) -> None:
        """Scales the loss, so that small gradients survive in float16.

        Args:
            loss_scale (float): The factor.

        """
        self.loss_scaling(scale=loss_scale)

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Scales the loss, so that small gradients survive in float16.

        The dynamic scale starts at one and grows. When a gradient is not
        finite, the scale is halved and that update is skipped.

        Args:
            interval (int): Number of updates in which the dynamic scale
                doubles.
            scale (float): A constant scale. If ``None``, it is dynamic.

        """
        if scale is None:
            if interval < 1:
                raise ValueError(f'interval must be >= 1, but {interval} was given')
            self._loss_scale = 1.0
            self._loss_scaling_is_dynamic = True
            self._loss_scaling_multiplier = math.pow(2.0, 1.0 / interval)
            self._loss_scaling_isnan_ever = False
        else:
            if not scale > 0:
                raise ValueError(f'loss scale must be a positive number, but {scale} was given')
            self._loss_scale = scale
            self._loss_scaling_is_dynamic = False
        self._loss_scaling_isnan = False

    def check_nan_in_grads(self) -> None:
        """Looks for gradients that are not finite, if the loss scale is dynamic."""
        self._loss_scaling_isnan = False
        if not self._loss_scaling_is_dynamic:
            return
        for name, param in self.target.namedparams(False):
            if param.grad is not None and not _update.all_finite(param.grad):
                self._loss_scaling_isnan = True
                self._loss_scaling_isnan_ever = True
                warnings.warn(
                    f'Non finite number found in param.grad of {name} (iteration: {self.t}, '
                    f'loss_scale: {self._loss_scale})',
                    stacklevel=3,
                )

    def is_safe_to_update(self) -> bool:
        """Returns ``False`` if :meth:`check_nan_in_grads` found such a gradient."""
        return not self._loss_scaling_isnan

    def update_loss_scale(self) -> None:
        """Adapts the dynamic loss scale."""
        if not self._loss_scaling_is_dynamic:
            return
        if self._loss_scaling_isnan:
            multiplier = 0.5
        elif self._loss_scaling_isnan_ever:
            multiplier = self._loss_scaling_multiplier
        else:
            multiplier = 2.0  # the first overflow shows where to stay
        scale = self._loss_scale * multiplier
        self._loss_scale = max(1.0, min(self._loss_scale_max, scale))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the counters and the states of all update rules.

        The target link is not included.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer.

        """
        if self.target is None:
            raise RuntimeError('self.target is None: call setup() before serialization')
        serializer_module._remember(serializer, self)
        self.t = serializer('t', self.t)
        self.epoch = serializer('epoch', self.epoch)
        if self._loss_scaling_is_dynamic:
            try:
                self._loss_scale = serializer('_loss_scale', self._loss_scale)
                self._loss_scaling_isnan_ever = serializer(
                    '_loss_scaling_isnan_ever', self._loss_scaling_isnan_ever
                )
            except KeyError:  # not stored by versions before 8
                pass
        for name, param in self.target.namedparams():
            if param.update_rule is not None:
                param.update_rule.serialize(serializer[name])


class GradientMethod(Optimizer):
    """Base class of optimizers that use the gradients of the parameters.

    Subclasses define :meth:`create_update_rule`.

    Attributes:
        hyperparam (Hyperparameter): Hyperparameters, from which those of the
            parameters' update rules inherit.

    .. admonition:: Example

        >>> class SignRule(chainer.UpdateRule):
        ...     def update_core(self, param):
        ...         param.array -= self.hyperparam.lr * np.sign(param.grad)
        >>> class SignDescent(chainer.GradientMethod):
        ...     def create_update_rule(self):
        ...         return SignRule(self.hyperparam)
        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = SignDescent().setup(model)
        >>> optimizer.hyperparam.lr = 0.25
        >>> optimizer.update(lambda: F.sum(model.W ** 2))
        >>> model.W
        variable W([[0.75]])

    """

    _use_cleargrads = True
    _buffers = None

    hyperparam: Hyperparameter
    t: int

    def __init__(self) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        self._use_fp32_update = False

    def setup(self, link: Link) -> Self:
        super().setup(link)
        for param in link.params():
            param.update_rule = self.create_update_rule()
            if self._use_fp32_update:
                param.update_rule.use_fp32_update()
        return self

    def create_update_rule(self) -> UpdateRule:
        """Returns a new update rule, for one parameter."""
        raise NotImplementedError

    def use_fp32_update(self, flag: bool = True) -> None:
        """Makes float16 parameters be updated through float32 master copies.

        Args:
            flag (bool): ``True`` to use master copies.

        """
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)

    def use_cleargrads(self, use: bool = True) -> None:
        """Chooses how gradients are reset: cleared, or filled with zeros.

        .. deprecated:: v2.0
            Gradients are cleared by default.

        Args:
            use (bool): ``False`` to fill them with zeros.

        """
        warnings.warn(
            'GradientMethod.use_cleargrads is deprecated.', DeprecationWarning, stacklevel=2
        )
        self._use_cleargrads = use

    def reallocate_cleared_grads(self) -> None:
        """Fills missing gradients of initialized parameters with zeros."""
        for param in self.target.params():
            if _update.lacks_grad(param):
                _update.fill_grad(param)

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters by their gradients.

        Args:
            lossfun (callable): Loss function, which returns a loss variable.
                The gradients are cleared and computed from it. If ``None``,
                the gradients that are there are used.
            args, kwds: Arguments of the loss function.

        """
        if self.target is None:
            raise RuntimeError('call `setup` method before `update` method')
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            if self._use_cleargrads:
                self.target.cleargrads()
            else:
                self.target.zerograds()
            loss.backward(loss_scale=self._loss_scale)
            del loss
            if self._loss_scale is not None:
                for param in self.target.params():
                    param._loss_scale = self._loss_scale

        if self._looks_at_grads():
            self.reallocate_cleared_grads()
        self.check_nan_in_grads()
        self.call_hooks('pre')
        if self.is_safe_to_update():
            self.t += 1
            if self._buffers is None:
                self._buffers = _update.Buffers()
            _update.update_params(self.target.params(), self._buffers)
        else:
            for param in self.target.params():
                param._loss_scale = None
        if self._post_update_hooks:
            self.reallocate_cleared_grads()
            self.call_hooks('post')
        self.update_loss_scale()

    def _looks_at_grads(self):
        """Tells whether anything but the update needs the gradients, which fills missing ones."""
        return (
            self._pre_update_hooks
            or self._loss_scaling_is_dynamic
            or type(self).reallocate_cleared_grads is not GradientMethod.reallocate_cleared_grads
        )

    def call_hook(self, hook: Any) -> None:
        super().call_hook(hook)
        self.reallocate_cleared_grads()  # a hook may have cleared some


def make_deprecation_message(module_name: str) -> str:
    """Returns the message that a hook has moved to :mod:`chainer.optimizer_hooks`.

    Args:
        module_name (str): Name of the hook.

    Returns:
        str: Message.

    .. admonition:: Example

        >>> chainer.optimizer.make_deprecation_message('Lasso')
        'chainer.optimizer.Lasso is deprecated from v4. Use chainer.optimizer_hooks.Lasso instead.'

    """
    return (
        f'chainer.optimizer.{module_name} is deprecated from v4. '
        f'Use chainer.optimizer_hooks.{module_name} instead.'
    )


def _deprecated(base):
    name = base.__name__

    def __init__(self, *args, **kwargs):
        warnings.warn(make_deprecation_message(name), DeprecationWarning, stacklevel=2)
        base.__init__(self, *args, **kwargs)

    return type(
        name,
        (base,),
        {
            '__init__': __init__,
            '__module__': __name__,
            '__doc__': f'Deprecated alias of :class:`chainer.optimizer_hooks.{name}`.',
        },
    )


if TYPE_CHECKING:
    from chainer.optimizer_hooks import (
        GradientClipping as GradientClipping,
        GradientHardClipping as GradientHardClipping,
        GradientNoise as GradientNoise,
        Lasso as Lasso,
        WeightDecay as WeightDecay,
    )
else:
    GradientClipping = _deprecated(optimizer_hooks.GradientClipping)
    GradientHardClipping = _deprecated(optimizer_hooks.GradientHardClipping)
    GradientNoise = _deprecated(optimizer_hooks.GradientNoise)
    Lasso = _deprecated(optimizer_hooks.Lasso)
    WeightDecay = _deprecated(optimizer_hooks.WeightDecay)
