"""The error of files that cannot be read, checked or run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ModelError(ValueError):
    """A model is broken, asks for what is not supported, or got inputs that it cannot take.

    The message names the node, tensor or input.
    """


@contextlib.contextmanager
def naming(what: object, always: bool = False) -> Iterator[None]:
    """Turns errors inside into a :class:`ModelError` that begins with ``what``.

    An error that names a node already, such as one inside of a loop's body, passes as it is,
    unless ``always``: a node of the standard's definition of an operator is not in the file.
    """
    try:
        yield
    except ModelError as error:
        if not always and error.args[0].startswith(('node ', 'Node ')):
            raise
        raise ModelError(f'{what}: {error}') from error
    except Exception as error:
        detail = str(error).strip() or 'no message'
        raise ModelError(f'{what}: {type(error).__name__}: {detail}') from error
