from __future__ import annotations

import builtins
from typing import Any


def is_notebook() -> bool:
    """Returns whether the program runs in a Jupyter notebook."""
    # IPython puts this function into the builtins.
    get_ipython = getattr(builtins, 'get_ipython', None)
    return get_ipython is not None and type(get_ipython()).__name__ == 'ZMQInteractiveShell'


class Output:
    """Output of a cell that changes in its place.

    Raises:
        ImportError: If IPython is not installed.

    """

    def __init__(self) -> None:
        from IPython import display

        self._module: Any = display
        self._handle: Any = None

    def show_html(self, text: str) -> None:
        """Shows HTML in the place of what was shown before."""
        self._show(self._module.HTML(text))

    def show_png(self, data: bytes) -> None:
        """Shows an image in the place of what was shown before."""
        self._show(self._module.Image(data))

    def _show(self, content: Any) -> None:
        if self._handle is None:
            self._handle = self._module.display(content, display_id=True)
        else:
            self._handle.update(content)
