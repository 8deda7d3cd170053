"""Pictures of computational graphs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from chainer import function_node, variable
from chainer._core.models import graph_svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer._core.autograd.variable_node import VariableNode
    from chainer.function_node import FunctionNode
    from chainer.variable import Variable

_var_style = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}
_func_style = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}


class DotNode:
    """Node of a graph in the DOT language.

    Args:
        node: :class:`~chainer.variable.VariableNode` or :class:`~chainer.FunctionNode`.
        attribute (dict): Attributes of the node in the DOT language, to which the label is added.
        show_name (bool): Whether to show names of variables in labels.

    .. admonition:: Example

        >>> from chainer.computational_graph import DotNode
        >>> x = chainer.Variable(np.zeros((2, 3), np.float32), name='x')
        >>> DotNode(x.node, {'shape': 'octagon'}).attribute
        {'label': 'x: (2, 3), float32', 'shape': 'octagon'}

    """

    def __init__(
        self,
        node: VariableNode | FunctionNode,
        attribute: dict[str, Any] | None = None,
        show_name: bool = True,
    ) -> None:
        self.node = node
        self.id_: int = id(node)
        label = node.label
        if show_name and isinstance(node, variable.VariableNode) and node.name is not None:
            label = f'{node.name}: {label}'
        self.attribute: dict[str, str] = {'label': _escape(label)}
        if attribute is not None:
            self.attribute.update(attribute)

    @property
    def label(self) -> str:
        """The node as a statement of the DOT language."""
        attributes = ','.join([f'{key}="{_quote(value)}"' for key, value in self.attribute.items()])
        return f'{self.id_} [{attributes}];'

    def __str__(self) -> str:
        return self.label


def _escape(text):
    """Returns the label in the DOT language that shows a text, whatever the shape of the node."""
    text = re.sub(r'\r\n?', '\n', str(text))
    # Neither files nor Graphviz take these characters.
    text = re.sub('[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]', lambda match: repr(match[0])[1:-1], text)
    text = re.sub(r'&(?=#?\w+;)', '&amp;', text)  # else it is shown as another character
    # Quotes, and the separators of nodes of the record shape.
    return re.sub(r'["\\{}|<>]', r'\\\g<0>', text).replace('\n', '\\n')


def _quote(value):
    """Escapes what would end a quoted string, unless it is escaped already."""
    return re.sub(
        r'(\\.)|"|\\$', lambda match: match[1] or '\\' + match[0], str(value), flags=re.DOTALL
    )


class ComputationalGraph:
    """Computational graph; :func:`build_computational_graph` makes one.

    Args:
        nodes (list): :class:`~chainer.variable.VariableNode` and :class:`~chainer.FunctionNode`
            objects.
        edges (list): Pairs of nodes, in the direction of the forward computation.
        variable_style (dict): DOT attributes of variables.
        function_style (dict): DOT attributes of functions.
        rankdir (str): Direction of the picture: ``'TB'``, ``'BT'``, ``'LR'`` or ``'RL'``.
        remove_variable (bool): Whether to leave out variables.
        show_name (bool): Whether to show names of variables.

    Raises:
        ValueError: If ``rankdir`` has another value.

    .. admonition:: Example

        >>> from chainer import computational_graph
        >>> y = F.exp(chainer.Variable(np.zeros(3, np.float32)))
        >>> graph = computational_graph.build_computational_graph(y, rankdir='LR')
        >>> isinstance(graph, computational_graph.ComputationalGraph)
        True
        >>> sorted(node.label for node in graph.nodes)
        ['(3), float32', '(3), float32', 'exp']
        >>> graph.dump()[:29]
        'digraph graphname{rankdir=LR;'

    """

    def __init__(
        self,
        nodes: Iterable[VariableNode | FunctionNode],
        edges: Iterable[tuple[Any, Any]],
        variable_style: dict[str, str] | str = 'default',
        function_style: dict[str, str] | str = 'default',
        rankdir: str = 'TB',
        remove_variable: bool = False,
        show_name: bool = True,
    ) -> None:
        self.nodes = nodes
        self.edges = edges
        self.variable_style: dict[str, str] | str = (
            _var_style if variable_style == 'default' else variable_style
        )
        self.function_style: dict[str, str] | str = (
            _func_style if function_style == 'default' else function_style
        )
        if rankdir not in ('TB', 'BT', 'LR', 'RL'):
            raise ValueError(f"rankdir must be 'TB', 'BT', 'LR' or 'RL', not {rankdir!r}")
        self.rankdir = rankdir
        self.remove_variable = remove_variable
        self.show_name = show_name

    def dump(self, format: str = 'dot') -> str:
        """Returns the graph as text.

        Args:
            format (str): Only ``'dot'``, the language of Graphviz.

        Raises:
            NotImplementedError: If ``format`` has another value.

        """
        if format != 'dot':
            raise NotImplementedError(f'Currently, only dot format is supported, not {format!r}.')
        nodes, edges = self._get_shown()
        statements = [f'rankdir={self.rankdir};']
        for node in nodes:
            statements.append(str(DotNode(node, self._get_style(node), self.show_name)))
        statements += [f'{id(head)} -> {id(tail)};' for head, tail in edges]
        return f'digraph graphname{{{"".join(statements)}}}'

    def _get_shown(self):
        if self.remove_variable:
            return _skip_variables(self.nodes, self.edges)
        return self.nodes, self.edges

    def _get_style(self, node):
        is_variable = isinstance(node, variable.VariableNode)
        return self.variable_style if is_variable else self.function_style

    def to_svg(self) -> str:
        """Returns a picture of the graph, which notebooks show.

        It needs no Graphviz, which draws what :meth:`dump` returns more finely.

        Returns:
            str: SVG document.

        .. admonition:: Example

            >>> from chainer import computational_graph
            >>> y = F.exp(chainer.Variable(np.zeros(3, np.float32)))
            >>> svg = computational_graph.build_computational_graph(y).to_svg()
            >>> svg[:4], svg.count('<rect'), svg[-6:]
            ('<svg', 3, '</svg>')

        """
        nodes, edges = self._get_shown()
        indexes = {id(node): i for i, node in enumerate(nodes)}
        shown = []
        for node in nodes:
            style = self._get_style(node)
            is_variable = isinstance(node, variable.VariableNode)
            label = str(node.label)
            if self.show_name and is_variable and node.name is not None:
                label = f'{node.name}: {label}'
            shown.append((label, is_variable, {} if isinstance(style, str) else style))
        pairs = [(indexes[id(head)], indexes[id(tail)]) for head, tail in edges]
        return graph_svg.draw(shown, pairs, self.rankdir)

    def _repr_svg_(self) -> str:
        return self.to_svg()


def _skip_variables(nodes, edges):
    """Joins the edges into and out of each variable."""
    creators = {id(tail): head for head, tail in edges if isinstance(tail, variable.VariableNode)}
    joined = [
        (creators[id(head)], tail)
        for head, tail in edges
        if isinstance(head, variable.VariableNode) and id(head) in creators
    ]
    return [node for node in nodes if isinstance(node, function_node.FunctionNode)], joined


def build_computational_graph(
    outputs: Variable | VariableNode | Sequence[Variable | VariableNode],
    remove_split: bool = True,
    variable_style: dict[str, str] | str = 'default',
    function_style: dict[str, str] | str = 'default',
    rankdir: str = 'TB',
    remove_variable: bool = False,
    show_name: bool = True,
) -> ComputationalGraph:
    """Collects the graph that leads to variables.

    Args:
        outputs: :class:`~chainer.Variable`, or a list or tuple of variables or their nodes.
        remove_split (bool): Must be ``True``.
        variable_style (dict): DOT attributes of variables.
        function_style (dict): DOT attributes of functions.
        rankdir (str): Direction of the picture: ``'TB'`` (top to bottom), ``'BT'``, ``'LR'`` or
            ``'RL'``.
        remove_variable (bool): Whether to leave out variables.
        show_name (bool): Whether to show names of variables.

    Returns:
        ComputationalGraph: Graph, whose :meth:`~ComputationalGraph.dump` gives DOT text.

    Raises:
        TypeError: If an output is not a variable.
        ValueError: If ``remove_split`` is ``False``.

    .. admonition:: Example

        >>> import numpy as np
        >>> import chainer
        >>> from chainer import computational_graph
        >>> x = chainer.Variable(np.ones(3, np.float32), name='x')
        >>> y = x * x
        >>> graph = computational_graph.build_computational_graph([y])
        >>> len(graph.nodes), len(graph.edges)
        (3, 2)
        >>> graph.dump()[:27]
        'digraph graphname{rankdir=T'

    """
    if not remove_split:
        raise ValueError('remove_split=False is not supported anymore')
    ends: Sequence[Any] = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    # Dictionaries keep the order; identity distinguishes nodes.
    nodes = {}
    edges = {}
    stack = []
    for output in ends:
        if isinstance(output, variable.Variable):
            output = output.node
        elif not isinstance(output, variable.VariableNode):
            raise TypeError(
                'element of outputs must be either Variable or VariableNode.\n'
                f'Actual: {type(output)}'
            )
        stack.append(output)
    stack.reverse()
    while stack:
        node = stack.pop()
        if id(node) in nodes:
            continue
        nodes[id(node)] = node
        if isinstance(node, variable.VariableNode):
            heads: Sequence[Any] = [] if node.creator_node is None else [node.creator_node]
        else:
            heads = node.inputs
        for head in heads:
            edges[id(head), id(node)] = head, node
        stack.extend(reversed(heads))
    return ComputationalGraph(
        list(nodes.values()),
        list(edges.values()),
        variable_style,
        function_style,
        rankdir,
        remove_variable,
        show_name,
    )
