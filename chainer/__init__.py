"""Chainer: define-by-run deep learning.

A computation on :class:`~chainer.Variable` objects records its own graph while it runs;
:meth:`chainer.Variable.backward` differentiates it. Functions, links, optimizers and the
training loop are built on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._backprop import backward as backward
from chainer._dtype import get_dtype as get_dtype, mixed16 as mixed16
from chainer._fallback import Fallback as Fallback
from chainer._fallback_report import FallbackReport as FallbackReport
from chainer._runtime_info import print_runtime_info as print_runtime_info
from chainer._version import __version__
from chainer.backend import get_device as get_device, using_device as using_device
from chainer.backends import cuda as cuda, intel64 as _intel64
from chainer.backends.cuda import (
    should_use_cudnn as should_use_cudnn,
    should_use_cudnn_tensor_core as should_use_cudnn_tensor_core,
)
from chainer.configuration import (
    config as config,
    global_config as global_config,
    using_config as using_config,
)
from chainer.device_resident import DeviceResident as DeviceResident
from chainer.distribution import (
    Distribution as Distribution,
    cross_entropy as cross_entropy,
    kl_divergence as kl_divergence,
    register_kl as register_kl,
)
from chainer.function import (
    Function as Function,
    FunctionAdapter as FunctionAdapter,
    force_backprop_mode as force_backprop_mode,
    no_backprop_mode as no_backprop_mode,
)
from chainer.function_hook import (
    FunctionHook as FunctionHook,
    get_function_hooks as get_function_hooks,
)
from chainer.function_node import FunctionNode as FunctionNode, grad as grad
from chainer.graph_optimizations.static_graph import static_graph as static_graph
from chainer.graph_optimizations.static_graph_utilities import static_code as static_code
from chainer.initializer import Initializer as Initializer
from chainer.link import Chain as Chain, ChainList as ChainList, Link as Link
from chainer.link_hook import LinkHook as LinkHook, _get_link_hooks
from chainer.optimizer import (
    GradientMethod as GradientMethod,
    Optimizer as Optimizer,
    UpdateRule as UpdateRule,
)
from chainer.reporter import (
    DictSummary as DictSummary,
    Reporter as Reporter,
    Summary as Summary,
    get_current_reporter as get_current_reporter,
    report as report,
    report_scope as report_scope,
)
from chainer.sequential import Sequential as Sequential
from chainer.serializer import (
    AbstractSerializer as AbstractSerializer,
    Deserializer as Deserializer,
    Serializer as Serializer,
)
from chainer.variable import (
    Parameter as Parameter,
    Variable as Variable,
    as_array as as_array,
    as_variable as as_variable,
)

# Users reach these as attributes after a mere `import chainer`.
# isort: off
from chainer import (
    backends as backends,
    functions as functions,
    initializers as initializers,
    types as types,
    utils as utils,
)
# isort: on

if TYPE_CHECKING:  # for editors, which do not run __getattr__
    from collections.abc import Iterable

    from chainer import (
        computational_graph as computational_graph,
        dataset as dataset,
        datasets as datasets,
        distributions as distributions,
        exporters as exporters,
        function_hooks as function_hooks,
        gradient_check as gradient_check,
        iterators as iterators,
        link_hooks as link_hooks,
        links as links,
        optimizer_hooks as optimizer_hooks,
        optimizers as optimizers,
        serializers as serializers,
        training as training,
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
