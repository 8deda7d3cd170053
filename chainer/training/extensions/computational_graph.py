from __future__ import annotations

import contextlib
import os
import subprocess
import warnings
from typing import TYPE_CHECKING, Any

from chainer import computational_graph, configuration, variable
from chainer.training import _files, extension
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

_var_style = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}
_func_style = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}


def is_return_code_zero(args: Sequence[str]) -> bool:
    """Returns whether a command runs successfully.

    Args:
        args (list of strs): Command and its arguments.

    Returns:
        bool: Whether its exit code is zero.

    .. admonition:: Example

        >>> import sys
        >>> from chainer.training.extensions import computational_graph
        >>> computational_graph.is_return_code_zero([sys.executable, '-c', 'pass'])
        True
        >>> computational_graph.is_return_code_zero(['no-such-program'])
        False

    """
    try:
        return subprocess.call(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def is_graphviz_available() -> bool:
    """Returns whether Graphviz's program ``dot`` is available.

    Returns:
        bool: Whether it is available.

    .. admonition:: Example

        >>> from chainer.training.extensions import computational_graph
        >>> computational_graph.is_graphviz_available() in (True, False)
        True

    """
    return is_return_code_zero(['dot', '-V'])


class DumpGraph(extension.Extension):
    """Extension that writes the computational graph of the first iteration.

    It writes the graph in Graphviz's language, and also as an image if the program ``dot`` is
    available.

    Args:
        root_name (str): Key of the root variable in the observation, such as ``'main/loss'``.
        filename (str): Name of the file in the output folder, ``cg.dot`` by default.
        variable_style (dict): Graphviz attributes of variable nodes.
        function_style (dict): Graphviz attributes of function nodes.

    Raises:
        TypeError: When called, if the value is not a variable.

    .. admonition:: Example

        >>> import os, tempfile
        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> updater = chainer.training.StandardUpdater(
        ...     chainer.iterators.SerialIterator(train, 100), chainer.optimizers.SGD().setup(model))
        >>> with tempfile.TemporaryDirectory() as out:
        ...     trainer = chainer.training.Trainer(updater, (1, 'iteration'), out)
        ...     trainer.extend(chainer.training.extensions.DumpGraph('main/loss'))
        ...     trainer.run()
        ...     'cg.dot' in os.listdir(out)
        True

    """

    default_name = 'dump_graph'

    def __init__(
        self,
        root_name: str,
        filename: str | None = None,
        variable_style: dict[str, Any] | None = None,
        function_style: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        # out_name is the name of the argument in old versions.
        (out_name,) = argument.parse_kwargs(kwargs, ('out_name', 'cg.dot'))
        self._root_name = root_name
        self._filename = out_name if filename is None else filename
        self._variable_style = _var_style if variable_style is None else variable_style
        self._function_style = _func_style if function_style is None else function_style
        self._original_flag = None
        self._flag_called = False

    def initialize(self, trainer: Trainer) -> None:
        if not self._flag_called:
            self._original_flag = configuration.config.keep_graph_on_report
            configuration.config.keep_graph_on_report = True

    def trigger(self, trainer: Trainer) -> bool:
        """Returns whether the graph has not been written yet."""
        return not self._flag_called

    def __call__(self, trainer: Trainer) -> None:
        if self._flag_called:
            return
        self._flag_called = True
        try:
            graph = self._dump(trainer)
        finally:
            self.finalize()
        if graph is not None:
            self._write(os.path.join(trainer.out, self._filename), graph)

    def _dump(self, trainer):
        root = trainer.observation[self._root_name]
        if not isinstance(root, variable.Variable):
            raise TypeError(
                f'root value is not a Variable: {self._root_name} is a {type(root).__name__}'
            )
        if root._has_chainerx_array:
            warnings.warn(
                f'The graph of {self._root_name} is not dumped: ChainerX records graphs of its own',
                stacklevel=3,
            )
            return None
        return computational_graph.build_computational_graph(
            [root], variable_style=self._variable_style, function_style=self._function_style
        ).dump()

    def _write(self, path, graph):
        with _files.atomic_file(path, durable=False) as temp_path:
            with open(temp_path, 'w', encoding='utf-8') as f:
                f.write(graph)
        if is_graphviz_available():
            image_path = os.path.splitext(path)[0] + '.png'
            with contextlib.suppress(FileNotFoundError):  # the program could not make it
                with _files.atomic_file(image_path, durable=False) as temp_path:
                    subprocess.call(['dot', '-Tpng', path, '-o', temp_path])

    def finalize(self) -> None:
        if self._original_flag is not None:
            configuration.config.keep_graph_on_report = self._original_flag
            self._original_flag = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        self._flag_called = serializer('_flag_called', self._flag_called)
