"""Chainer: define-by-run deep learning.

A computation on :class:`~chainer.Variable` objects records its own graph while it runs;
:meth:`chainer.Variable.backward` differentiates it. Functions, links, optimizers and the
training loop are built on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._backprop import backward
from chainer._dtype import get_dtype, mixed16
from chainer._fallback import Fallback
from chainer._fallback_report import FallbackReport
from chainer._runtime_info import print_runtime_info
from chainer._version import __version__
from chainer.backend import get_device, using_device
from chainer.backends import cuda
from chainer.backends import intel64 as _intel64
from chainer.backends.cuda import should_use_cudnn, should_use_cudnn_tensor_core
from chainer.configuration import config, global_config, using_config
from chainer.device_resident import DeviceResident
from chainer.distribution import Distribution, cross_entropy, kl_divergence, register_kl
from chainer.function import Function, FunctionAdapter, force_backprop_mode, no_backprop_mode
from chainer.function_hook import FunctionHook, get_function_hooks
from chainer.function_node import FunctionNode, grad
from chainer.graph_optimizations.static_graph import static_graph
from chainer.graph_optimizations.static_graph_utilities import static_code
from chainer.initializer import Initializer
from chainer.link import Chain, ChainList, Link
from chainer.link_hook import LinkHook, _get_link_hooks
from chainer.optimizer import GradientMethod, Optimizer, UpdateRule
from chainer.reporter import (
    DictSummary,
    Reporter,
    Summary,
    get_current_reporter,
    report,
    report_scope,
)
from chainer.sequential import Sequential
from chainer.serializer import AbstractSerializer, Deserializer, Serializer
from chainer.variable import Parameter, Variable, as_array, as_variable

# Users reach these as attributes after a mere `import chainer`.
from chainer import backends, functions, initializers, types, utils  # isort: skip

if TYPE_CHECKING:  # for editors, which do not run __getattr__
    from collections.abc import Iterable

    from chainer import (
        computational_graph,
        dataset,
        datasets,
        distributions,
        exporters,
        function_hooks,
        gradient_check,
        iterators,
        link_hooks,
        links,
        optimizer_hooks,
        optimizers,
        serializers,
        training,
    )
    from chainer.types import NdArray

# These, too, but they are imported when they are first asked for.
_LAZY = (
    'computational_graph',
    'dataset',
    'datasets',
    'distributions',
    'exporters',
    'function_hooks',
    'gradient_check',
    'iterators',
    'link_hooks',
    'links',
    'optimizer_hooks',
    'optimizers',
    'serializers',
    'training',
)

disable_experimental_feature_warning = False


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return importlib.import_module(f'chainer.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def get_array_types() -> tuple[type, ...]:
    """Returns the tuple of all array classes, of every backend that is available.

    .. admonition:: Example

        >>> np.ndarray in chainer.get_array_types()
        True

    """
    return _array_types()


def get_cpu_array_types() -> tuple[type, ...]:
    """Returns the tuple of the array classes that live in host memory.

    .. admonition:: Example

        >>> np.ndarray in chainer.get_cpu_array_types()
        True

    """
    return (numpy.ndarray, _intel64.mdarray) if _intel64.is_ideep_available() else _numpy_only


_numpy_only = (numpy.ndarray,)
_known_array_types = None


def _array_types():
    global _known_array_types
    if _known_array_types is None:
        types_ = [*get_cpu_array_types()]
        if cuda.available:
            types_.append(cuda.ndarray)
        if chainerx.is_available():
            types_.append(chainerx.ndarray)
        _known_array_types = tuple(types_)
    return _known_array_types


def is_arrays_compatible(arrays: Iterable[NdArray | None]) -> bool:
    """Returns whether arrays (or ``None``) can be inputs of one function.

    They can if all are of one backend: NumPy (with iDeep), CuPy or ChainerX.

    Args:
        arrays (sequence of arrays or None): Arrays to look at.

    Returns:
        bool: Whether they can.

    .. admonition:: Example

        >>> chainer.is_arrays_compatible([np.zeros(2), None, np.ones(3)])
        True

    """
    arrays = [a for a in arrays if a is not None]
    if not arrays:
        return True
    first = arrays[0]
    for types_ in ((chainerx.ndarray,), (cuda.ndarray,)):
        if isinstance(first, types_):
            return all(isinstance(a, types_) for a in arrays)
    cpu_types = get_cpu_array_types()
    return all(isinstance(a, cpu_types) for a in arrays)


def get_compute_mode() -> str | None:
    """Returns ``chainer.config.compute_mode``.

    .. admonition:: Example

        >>> chainer.get_compute_mode() is None
        True

    """
    return config.compute_mode


def is_debug() -> bool:
    """Returns whether debug mode is on in this thread.

    .. admonition:: Example

        >>> with chainer.using_config('debug', True):
        ...     chainer.is_debug()
        True

    """
    return bool(config.debug)


def set_debug(debug: bool) -> None:
    """Turns debug mode on or off in this thread.

    In debug mode functions check their results for NaN and record their call stack.

    Args:
        debug (bool): New debug mode.

    .. admonition:: Example

        >>> chainer.set_debug(True)
        >>> x = np.array([-1], np.float32)
        >>> with np.errstate(invalid='ignore'):
        ...     F.log(x)
        Traceback (most recent call last):
            ...
        RuntimeError: NaN is detected on forward computation of log
        >>> chainer.set_debug(False)

    """
    config.debug = debug


class DebugMode:
    """Context manager that sets debug mode.

    .. deprecated:: v2.0
        Use ``chainer.using_config('debug', debug)``.

    Args:
        debug (bool): Debug mode inside the context.

    .. admonition:: Example

        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore', DeprecationWarning)
        ...     with chainer.DebugMode(True):
        ...         chainer.is_debug()
        True

    """

    def __init__(self, debug: bool) -> None:
        import warnings

        warnings.warn(
            "chainer.DebugMode is deprecated. Use chainer.using_config('debug', ...).",
            DeprecationWarning,
            stacklevel=2,
        )
        self._using = using_config('debug', debug)

    def __enter__(self) -> None:
        self._using.__enter__()

    def __exit__(self, *args: object) -> None:
        self._using.__exit__(*args)


from chainer.functions.array import get_item as _get_item  # noqa: E402
from chainer.functions.math import basic_math as _basic_math  # noqa: E402

_basic_math.install_variable_arithmetics()
_get_item.install_variable_get_item()
