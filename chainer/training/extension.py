from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.reports import representation
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec

PRIORITY_WRITER = 300
PRIORITY_EDITOR = 200
PRIORITY_READER = 100


class Extension:
    """Base of trainer extensions, which the trainer calls after updates.

    Any callable that takes the trainer can be an extension; this class defines the attributes
    that the trainer reads, with defaults.

    Attributes:
        trigger: When the extension is called, see
            :func:`~chainer.training.get_trigger`. Default: after each iteration.
        priority (int): The trainer calls extensions of higher priority first.
            ``PRIORITY_WRITER`` (300) is for extensions that write to the observation,
            ``PRIORITY_EDITOR`` (200) for those that change it, ``PRIORITY_READER`` (100)
            for those that only read it.
        name (str): Name within the trainer, set by :meth:`Trainer.extend`.

    .. admonition:: Example

        >>> class Shout(chainer.training.Extension):
        ...     trigger = 3, 'iteration'
        ...     def __call__(self, trainer):
        ...         print('iteration', trainer.updater.iteration)
        >>> trainer.extend(Shout())
        >>> trainer.run()
        iteration 3
        iteration 6

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    trigger: TriggerSpec = 1, 'iteration'
    priority = PRIORITY_READER
    name: str | None = None

    @property
    def default_name(self) -> str:
        """Default name of the extension: the name of its class."""
        return type(self).__name__

    def __call__(self, trainer: Trainer) -> object:
        """Runs the extension.

        Args:
            trainer (Trainer): Trainer that calls it.

        """
        raise NotImplementedError('Extension implementation must override __call__.')

    def __getattr__(self, name: str) -> Any:
        if name == 'invoke_before_training':
            raise NotImplementedError(
                'invoke_before_training has been removed since Chainer v2.0.0. '
                'Use Extension.initialize instead.'
            )
        raise AttributeError(f'{type(self).__name__} object has no attribute {name}')

    def finalize(self) -> None:
        """Called when the training ends, even with an exception."""

    def initialize(self, trainer: Trainer) -> None:
        """Called before the training starts, after the state is resumed.

        Args:
            trainer (Trainer): Trainer that runs the training loop.

        """

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType) -> None:
        """Called when an exception stops the training, before :meth:`finalize`.

        Args:
            trainer (Trainer): Trainer that runs the training loop.
            exc (Exception): The exception.
            tb (traceback): Its traceback.

        """

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the state of the extension."""


def make_extension(
    trigger: TriggerSpec | None = None,
    default_name: str | None = None,
    priority: int | None = None,
    finalizer: Callable[[], Any] | None = None,
    initializer: Callable[[Trainer], Any] | None = None,
    on_error: Callable[[Trainer, Exception, TracebackType], Any] | None = None,
    **kwargs: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that gives a function the attributes of an extension.

    Args:
        trigger: When the function is called. Default: after each iteration.
        default_name (str): Name of the extension. Default: name of the function.
        priority (int): Priority. Default: ``PRIORITY_READER``.
        finalizer: Function without arguments called when the training ends.
        initializer: Function of the trainer called before the training starts.
        on_error: Function of the trainer, an exception and its traceback, called when the
            exception stops the training.

    Returns:
        The decorator, which returns the function itself.

    .. admonition:: Example

        >>> @chainer.training.make_extension(trigger=(10, 'iteration'))
        ... def say_hello(trainer):
        ...     print('hello')
        >>> say_hello.trigger, say_hello.default_name, say_hello.priority
        ((10, 'iteration'), 'say_hello', 100)

    """
    argument.parse_kwargs(
        kwargs,
        invoke_before_training='invoke_before_training has been removed since '
        'Chainer v2.0.0. Use initializer= instead.',
    )

    def decorator(extension):
        extension.trigger = Extension.trigger if trigger is None else trigger
        extension.default_name = default_name or extension.__name__
        extension.priority = Extension.priority if priority is None else priority
        extension.finalize = finalizer
        extension.on_error = on_error
        extension.initialize = initializer
        return extension

    return decorator
