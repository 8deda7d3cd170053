"""Extensions with what a trainer knows of them, and calls of all of them."""

from __future__ import annotations

import collections
import sys
import traceback
from typing import TYPE_CHECKING, Any

from chainer.training import _serialization, extension as extension_module, util

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.serializer import AbstractSerializer
    from chainer.types import TriggerSpec

Entry = collections.namedtuple('Entry', 'extension priority trigger call_before_training')


def make(
    extension: Callable[[Any], Any],
    trigger: TriggerSpec | None,
    priority: int | None,
    call_before_training: bool,
) -> Entry:
    """Makes an entry; takes from the extension what is ``None``."""
    if trigger is None:
        trigger = getattr(extension, 'trigger', (1, 'iteration'))
    if priority is None:
        priority = getattr(extension, 'priority', extension_module.PRIORITY_READER)
    return Entry(extension, priority, util.get_trigger(trigger), call_before_training)


def check_extension(extension: object) -> None:
    """Raises ``TypeError`` if a trainer cannot call an object."""
    if not callable(extension):
        raise TypeError(
            'extension must be an extension such as extensions.LogReport(), or a function that '
            f'takes the trainer, but {extension!r} was given'
        )
    if isinstance(extension, type) and issubclass(extension, extension_module.Extension):
        raise TypeError(
            f'extension must be an extension, but the class {extension.__name__} was given: '
            f'call it, as in trainer.extend({extension.__name__}(...))'
        )


def name_of(extension: object) -> str:
    """Returns the name that an extension has by itself."""
    for attribute in ('name', 'default_name', '__name__'):
        name = getattr(extension, attribute, None)
        if name is not None:
            return name
    raise TypeError('name is not given for the extension')


def unique_name(name: str, names: Iterable[str]) -> str:
    """Returns a name with a suffix if it is among those in use.

    Raises:
        ValueError: If the name is ``'training'``, which is reserved.

    """
    if name == 'training':
        raise ValueError('the name "training" is prohibited as an extension name')
    unique = name
    ordinal = 0
    while unique in names:
        ordinal += 1
        unique = f'{name}_{ordinal}'
    return unique


def _write_error(title, error):
    stream = sys.stderr
    stream.write(f'{title}: {error}\n')
    stream.write('Traceback (most recent call last):\n')
    traceback.print_tb(error.__traceback__, file=stream)


def show_error(error: BaseException) -> None:
    """Writes what stopped a loop to standard error."""
    _write_error('Exception in main training loop', error)
    sys.stderr.write(
        'Will finalize trainer extensions and updater before reraising the exception.\n'
    )


def handle_error(entries: Iterable[Entry], trainer: Any, error: BaseException) -> None:
    """Calls the ``on_error`` handlers; writes what they raise to standard error."""
    for entry in entries:
        handler = getattr(entry.extension, 'on_error', None)
        if handler:
            try:
                handler(trainer, error, error.__traceback__)
            except Exception as e:
                _write_error('Exception in error handler', e)


def finalize(entries: Iterable[Entry], updater: Any) -> Exception | None:
    """Finalizes everything, even if something fails; returns the first failure."""
    finalizers = [getattr(entry.extension, 'finalize', None) for entry in entries]
    first_error = None
    for finalizer in [*filter(None, finalizers), updater.finalize]:
        try:
            finalizer()
        except Exception as e:
            first_error = first_error or e
    return first_error


def serialize(entries: dict[str, Entry], serializer: AbstractSerializer) -> None:
    """Reads or writes the states of extensions and their triggers."""
    extensions = _serialization.get_child(serializer, 'extensions')
    triggers = _serialization.get_child(serializer, 'extension_triggers')
    for name, entry in entries.items():
        _serialization.serialize_part(entry.extension, extensions, name)
        _serialization.serialize_part(entry.trigger, triggers, name)
