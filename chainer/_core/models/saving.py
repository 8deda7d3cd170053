"""What ``serialize`` methods of this package share."""

from __future__ import annotations

import json
from typing import Any

from chainer.configuration import config
from chainer.serializer import AbstractSerializer, Deserializer


def load_json(
    serializer: AbstractSerializer, key: str, kind: type, item: type, current: Any = None
) -> Any:
    """Loads a list or a dictionary that is stored as JSON.

    Args:
        serializer: Deserializer.
        key (str): Name of the text.
        kind (type): ``list`` or ``dict``.
        item (type): Type of the entries.
        current: Result if the serializer keeps current values where the file has none.

    Raises:
        KeyError: There is no text.
        ValueError: The text is something else.

    """
    text = serializer(key, '' if current is None else json.dumps(current))
    if text == '':
        raise KeyError(f"'{key}' is not found in the file")
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError) as e:
        raise ValueError(f"'{key}' is not JSON: {e}") from e
    items = value.values() if isinstance(value, dict) else value
    if not isinstance(value, kind) or not all(isinstance(x, item) for x in items):
        raise ValueError(f"'{key}' is not a {kind.__name__} of {item.__name__} values as JSON")
    return value


def takes_extras(serializer: AbstractSerializer) -> bool:
    """Tells whether to save or load values that files of Chainer 7 lack.

    Exact resumption needs them. A load looks for them and leaves out the missing ones.
    """
    return isinstance(serializer, Deserializer) or config.exact_resume == 'always'


def remember(serializer: AbstractSerializer, obj: Any) -> None:
    """Lets a failing load restore the attributes of ``obj``.

    ``serialize`` methods call this before they assign loaded values.
    """
    journal = getattr(serializer, '_journal', None)
    if journal is None:
        return
    saved = obj.__dict__.copy()

    def undo() -> None:
        obj.__dict__.clear()
        obj.__dict__.update(saved)

    journal.append(undo)
