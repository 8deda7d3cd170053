"""Chainer: define-by-run deep learning.

A computation on :class:`~chainer.Variable` objects records its own graph while it runs;
:meth:`chainer.Variable.backward` differentiates it. Functions, links, optimizers and the
training loop are built on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._backprop import backward
from chainer._core.array_types import (
    get_array_types,
    get_cpu_array_types,
    is_arrays_compatible,
)
from chainer._dtype import get_dtype, mixed16
from chainer._fallback import Fallback
from chainer._fallback_report import FallbackReport
from chainer._runtime_info import print_runtime_info
from chainer._version import __version__
from chainer.backend import get_device, using_device
from chainer.backends import cuda
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


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f'chainer.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__():
    return sorted({*globals(), *_LAZY})


def get_compute_mode():
    """Returns ``chainer.config.compute_mode``.

    .. admonition:: Example

        >>> chainer.get_compute_mode() is None
        True

    """
    return config.compute_mode


def is_debug():
    """Returns whether debug mode is on in this thread.

    .. admonition:: Example

        >>> with chainer.using_config('debug', True):
        ...     chainer.is_debug()
        True

    """
    return bool(config.debug)


def set_debug(debug):
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

    def __init__(self, debug):
        import warnings

        warnings.warn(
            "chainer.DebugMode is deprecated. Use chainer.using_config('debug', ...).",
            DeprecationWarning,
            stacklevel=2,
        )
        self._using = using_config('debug', debug)

    def __enter__(self):
        self._using.__enter__()

    def __exit__(self, *args):
        self._using.__exit__(*args)


from chainer.functions.array import get_item as _get_item  # noqa: E402
from chainer.functions.math import basic_math as _basic_math  # noqa: E402

_basic_math.install_variable_arithmetics()
_get_item.install_variable_get_item()
