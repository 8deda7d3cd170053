"""Functions that are one node of ONNX, but not one function node of Chainer."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

import chainer
from onnx_chainer.replace_func import fake_as_funcnode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Name of the node and of its converter, for functions by module. These compute on arrays, or of
# many functions where ONNX has one operator.
_FUNCTIONS = {
    'chainer.functions.math.ceil.ceil': 'ceil',
    'chainer.functions.math.fix.fix': 'fix',
    'chainer.functions.math.floor.floor': 'floor',
    'chainer.functions.math.sign.sign': 'sign',
    'chainer.functions.loss.crf1d.crf1d': 'crf1d',
    'chainer.functions.connection.scaled_dot_product_attention.scaled_dot_product_attention': (
        'scaled_dot_product_attention'
    ),
}


def _as_node(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    parameters = inspect.signature(function).parameters
    fake = fake_as_funcnode(function, name, list(enumerate(parameters)), experimental_warning=False)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # Dropout within is random: such a call is what its parts are.
        if chainer.config.train and (kwargs.get('dropout_ratio') or len(args) > 4 and args[4]):
            return function(*args, **kwargs)
        return fake(*args, **kwargs)

    return call


@contextlib.contextmanager
def patch_functions() -> Iterator[None]:
    """Context in which functions that no function node stands for are nodes of the graph.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([0.5, 1.5], 'f'))
        >>> with onnx_chainer.mapping.patch_functions():
        ...     F.floor(x).creator.label
        'floor'

    """
    fakes = {}
    for path, node_name in _FUNCTIONS.items():
        module, name = path.rsplit('.', 1)
        function = getattr(importlib.import_module(module), name)
        getattr(chainer.functions, name)
        fakes[name] = function, _as_node(function, node_name)
    replaced = []
    # Programs import functions by name, too. There are many modules, so one pass is for all names.
    for holder in list(sys.modules.values()):
        attributes = getattr(holder, '__dict__', {})
        for name in fakes.keys() & attributes.keys():
            function, fake = fakes[name]
            if attributes[name] is function:
                replaced.append((holder, name, function))
                setattr(holder, name, fake)
    try:
        yield
    finally:
        for holder, name, function in replaced:
            setattr(holder, name, function)
