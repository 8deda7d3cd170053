"""The base classes of optimizers and update rules."""

from __future__ import annotations

import collections
import warnings
from typing import TYPE_CHECKING, Any

from chainer import (
    configuration,
    link as link_module,
    optimizer_hooks,
)
from chainer._core.autograd import variable_gradient as _variable_gradient
from chainer._core.engines import plan_data
from chainer._core.models import link_errors, saving
from chainer._core.names import hints
from chainer._core.optimizers import (
    hook_registry as _hook_registry,
    loss_scaling as _loss_scaling,
    state_files as _state_files,
    step,
    update,
)
from chainer._core.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer._core.optimizers.update_rule import UpdateRule
from chainer._core.reports import representation
from chainer._core.settings.mixed16 import is_mixed as _is_mixed
from chainer.optimizer_hooks import _base as hooks_base

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from typing_extensions import Self

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer


__all__ = [
    'GradientClipping',
    'GradientHardClipping',
    'GradientMethod',
    'GradientNoise',
    'Hyperparameter',
    'HyperparameterProxy',
    'Lasso',
    'Optimizer',
    'UpdateRule',
    'WeightDecay',
    'make_deprecation_message',
    'use_state_files',
]


class Optimizer(_loss_scaling.LossScaling):
    """Base class of optimizers.

    Attributes:
        target (chainer.Link): The link to optimize, set by :meth:`setup`.
        t (int): Number of updates so far.
        epoch (int): Number of epochs so far.
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

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    target: Any = None
    t: int = 0
    epoch: int = 0
    use_auto_new_epoch = False
    _pre_update_hooks: Any = None
    _post_update_hooks: Any = None

    def setup(self, link: Link) -> Self:
        """Sets the link to optimize, and restarts the counters.

        Args:
            link (chainer.Link): The link.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: If ``link`` is not a link.

        """
        if not isinstance(link, link_module.Link):
            raise TypeError(f'optimization target must be a link, but {type(link)} was given')
        link_errors.warn_of_ignored_links(link, 3)
        self.target = link
        # Counts and hooks belong to the training of one link.
        self.t = 0
        self.epoch = 0
        self._pre_update_hooks = collections.OrderedDict()
        self._post_update_hooks = collections.OrderedDict()
        return self

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters.

        Args:
            lossfun (callable): Loss function. If ``None``, the existing gradients
                are used.
            args, kwds: Arguments of the loss function.

        """
        raise NotImplementedError

    def new_epoch(self, auto: bool = False) -> None:
        """Counts an epoch.

        Args:
            auto (bool): ``True`` when called by an updater.

        Raises:
            RuntimeError: If ``auto`` disagrees with ``use_auto_new_epoch``.

        """
        # Counted by both, each epoch would count twice, and schedules would run ahead.
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

        The call is ``hook(optimizer)``, or, if the hook has a true attribute
        ``call_for_each_param``, ``hook(rule, param)`` for every parameter.

        Args:
            hook (callable): The hook.
            name (str): Its name. If ``None``, ``hook.name`` or the name of the
                function.
            timing (str): ``'pre'`` or ``'post'`` (before or after the update),
                or ``'auto'``: ``hook.timing`` if it exists, else ``'pre'``.

        Raises:
            RuntimeError: If :meth:`setup` has not been called.
            KeyError: If the name is taken.

        """
        if self._pre_update_hooks is None:
            raise RuntimeError('call `setup` method before `add_hook` method')
        _hook_registry.add(self._pre_update_hooks, self._post_update_hooks, hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: If there is no such hook.

        """
        if self._pre_update_hooks is None:
            raise RuntimeError('call `setup` method before `remove_hook` method')
        _hook_registry.remove(self._pre_update_hooks, self._post_update_hooks, name)

    def call_hooks(self, timing: str = 'pre') -> None:
        """Calls the hooks of a timing.

        Args:
            timing (str): ``'pre'`` or ``'post'``.

        """
        if self._pre_update_hooks is None:
            raise RuntimeError('call `setup` method before `call_hooks` method')
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

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the counters and the states of all update rules.

        Excludes the target link.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer.

        """
        t = serializer('t', self.t)
        if self.target is None:
            raise RuntimeError('self.target is None: call setup() before serialization')
        saving.remember(serializer, self)
        self.t = t
        self.epoch = serializer('epoch', self.epoch)
        self._serialize_loss_scale(serializer)
        # By the names of parameters, so that a model built in another order finds its states.
        for name, param in self.target.namedparams():
            if param.update_rule is not None:
                param.update_rule.serialize(serializer[name])


hints.attach(Optimizer, 'Optimizer')


class GradientMethod(Optimizer):
    """Base class of optimizers that use the gradients of the parameters.

    Subclasses define :meth:`create_update_rule`.

    Attributes:
        hyperparam (Hyperparameter): Hyperparameters, inherited by the
            parameters' update rules.

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

    hyperparam: Hyperparameter
    t: int

    _use_cleargrads = True
    _buffers = None
    _state_folder: str | None = None
    # Gives the parameters to update, where they are not those of the target.
    _params_to_update: Callable[[], list[Any]] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        # None until the user decides; then the dtype of the configuration does, at the setup.
        self._use_fp32_update: bool | None = None

    def setup(self, link: Link) -> Self:
        super().setup(link)
        use_fp32_update = self._use_fp32_update
        if use_fp32_update is None:
            use_fp32_update = _is_mixed(configuration.config.dtype)
        # A rule for each, as it keeps the state of one parameter and may get values of its own.
        for param in link.params():
            param.update_rule = self.create_update_rule()
            if use_fp32_update:
                param.update_rule.use_fp32_update()
            if self._state_folder is not None:
                param.update_rule._use_state_files(self._state_folder)
        return self

    def create_update_rule(self) -> UpdateRule:
        """Returns a new update rule, for one parameter."""
        raise NotImplementedError

    def use_fp32_update(self, flag: bool = True) -> None:
        """Updates parameters of half precision through float32 master copies.

        :meth:`setup` does so itself while ``chainer.config.dtype`` is ``chainer.mixed16`` or
        ``'mixed_bfloat16'``, unless
        this method has been called with ``False``.

        Args:
            flag (bool): ``True`` to use master copies.

        """
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)

    def use_cleargrads(self, use: bool = True) -> None:
        """Chooses whether to clear gradients or fill them with zeros.

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
            _variable_gradient.fill_missing_grad(param)

    def _replace_grads(self, lossfun: Callable[..., Any], args: Any, kwds: Any) -> None:
        try:
            loss = lossfun(*args, **kwds)
        except TypeError:
            if callable(lossfun):
                raise
            raise TypeError(
                f'lossfun must be a function, but a {type(lossfun).__name__} was given. For a loss '
                'that exists: model.cleargrads(), loss.backward(), optimizer.update()'
            ) from None
        # Not before the loss function, which may read the gradients of the last step.
        if self._use_cleargrads:
            self.target.cleargrads()
        else:
            self.target.zerograds()
        loss.backward(loss_scale=self._loss_scale)

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters by their gradients.

        Args:
            lossfun (callable): Loss function, which returns a loss variable.
                Its gradients replace the existing ones. If ``None``, the
                existing gradients are used.
            args, kwds: Arguments of the loss function.

        """
        if self.target is None:
            raise RuntimeError('call `setup` method before `update` method')
        if lossfun is not None:
            self._replace_grads(lossfun, args, kwds)
        # What records a compiled step makes the update itself, to repeat it in a plan.
        recording = plan_data.local.recording
        if recording is not None and recording.update(self):
            return

        if self._looks_at_grads():
            self.reallocate_cleared_grads()
        self.check_nan_in_grads()
        self.call_hooks('pre')
        if self.is_safe_to_update():
            self.t += 1
            if self._buffers is None:
                self._buffers = step.Buffers()
            params = (self._params_to_update or self.target.params)()
            update.update_params(params, self._buffers)
        else:
            # A step that is left out leaves no scale behind, as the next backward pass may have
            # another.
            for param in self.target.params():
                if param._loss_scale is not None:
                    param._loss_scale = None
        if self._post_update_hooks:
            self.reallocate_cleared_grads()
            self.call_hooks('post')
        self.update_loss_scale()

    def _looks_at_grads(self):
        """Tells whether code beside the update reads the gradients, so missing ones are filled."""
        return (
            self._pre_update_hooks
            or self._loss_scaling_is_dynamic
            or type(self).reallocate_cleared_grads is not GradientMethod.reallocate_cleared_grads
        )

    def call_hook(self, hook: Any) -> None:
        super().call_hook(hook)
        self.reallocate_cleared_grads()  # a hook may have cleared some


def use_state_files(optimizer: Any, folder: str | os.PathLike[str] | None) -> None:
    """Keeps the states of an optimizer in files that are mapped into memory.

    A model can then be trained although its states, such as the two of Adam, which take twice the
    bytes of the parameters, do not fit into memory: the system writes their pages to the files
    where it needs the memory, and reads them back at the next update. The results are the same, to
    the bit. An update takes longer where pages have to be read, so choose a fast local disk. The
    files have no names, so nothing is left of them however the process ends; a snapshot holds the
    states as always. The float32 copies of :meth:`GradientMethod.use_fp32_update` are states, too.

    Arrays under 64 KiB and arrays on GPUs stay where they are. Processes that are forked share the
    files.

    Args:
        optimizer (chainer.GradientMethod): Optimizer, also one that
            :func:`chainermn.create_multi_node_optimizer` returns, before or after its ``setup``.
        folder (str or None): Folder of the files; ``None`` for memory. States that exist move.

    Raises:
        TypeError: If ``optimizer`` has no update rules, or ``folder`` is no path.
        OSError: If the folder does not exist or has no room. So does the update that makes a state
            for which there is no room.

    .. admonition:: Example

        >>> import tempfile
        >>> model = L.Linear(200, 100)
        >>> optimizer = chainer.optimizers.Adam().setup(model)
        >>> chainer.optimizer.use_state_files(optimizer, tempfile.gettempdir())
        >>> optimizer.update(lambda: F.sum(model(np.ones((1, 200), np.float32)) ** 2))
        >>> model.W.update_rule.state['m'].shape
        (100, 200)

    """
    if not hasattr(optimizer, 'create_update_rule'):
        raise TypeError(
            f'optimizer must be a GradientMethod, but {type(optimizer).__name__} was given'
        )
    folder = _state_files.check_folder(folder)
    if optimizer.target is not None:
        for param in optimizer.target.params():
            if param.update_rule is not None:
                param.update_rule._use_state_files(folder)
    optimizer._state_folder = folder


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

    # Not a function: programs derive from the class and test with isinstance.
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
