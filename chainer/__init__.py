"""Chainer: define-by-run deep learning.

A computation on :class:`~chainer.Variable` objects records its own graph while it runs;
:meth:`chainer.Variable.backward` differentiates it. Functions, links, optimizers and the
training loop build on that.
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING, Any

# Users reach these as attributes after just `import chainer`.
from chainer import (
    _backend as _backend,
    backends as backends,
    functions as functions,
    initializers as initializers,
    legacy as _legacy,
    memory_layouts as memory_layouts,
    types as types,
    utils as utils,
)  # isort: skip
from chainer._core.devices.array_types import (
    get_array_types as get_array_types,
    get_cpu_array_types as get_cpu_array_types,
    is_arrays_compatible as is_arrays_compatible,
)
from chainer._core.devices.runtime_info import print_runtime_info as print_runtime_info
from chainer._core.models.model_summary import summary as summary
from chainer._core.names import lazy as _lazy
from chainer._core.reports.fallback import Fallback as Fallback
from chainer._core.reports.fallback_report import FallbackReport as FallbackReport
from chainer._core.settings.debug import (
    DebugMode as DebugMode,
    get_compute_mode as get_compute_mode,
    is_debug as is_debug,
    set_debug as set_debug,
)
from chainer._core.settings.dtype import get_dtype as get_dtype
from chainer._core.settings.mixed16 import mixed16 as mixed16
from chainer._core.variables.backward import backward as backward
from chainer._version import __version__ as __version__
from chainer.backend import get_device as get_device, using_device as using_device
from chainer.backends import cuda as cuda
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
from chainer.functions.math import basic_math as basic_math
from chainer.graph_optimizations.static_graph import static_graph as static_graph
from chainer.graph_optimizations.static_graph_utilities import static_code as static_code
from chainer.initializer import Initializer as Initializer
from chainer.link import Chain as Chain, ChainList as ChainList, Link as Link
from chainer.link_hook import LinkHook as LinkHook, _get_link_hooks as _get_link_hooks
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

if TYPE_CHECKING:  # for editors: they do not run __getattr__
    from collections.abc import Iterable

    from chainer import (
        compilation as compilation,
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
        profiler as profiler,
        serializers as serializers,
        training as training,
    )
    from chainer.compilation import compile as compile
    from chainer.transforms import (
        hvp as hvp,
        jacobian as jacobian,
        jvp as jvp,
        per_sample_grad as per_sample_grad,
        vmap as vmap,
    )
    from chainer.types import NdArray

# The same, but imported at first use.
_lazy.attach(
    __name__,
    {'compile': 'chainer.compilation'}
    | dict.fromkeys(('hvp', 'jacobian', 'jvp', 'per_sample_grad', 'vmap'), 'chainer.transforms')
    | {
        name: f'chainer.{name}'
        for name in (
            'compilation',
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
            'profiler',
            'serializers',
            'training',
        )
    },
)

disable_experimental_feature_warning = False

_legacy_names = _os.environ.get('CHAINER_LEGACY')
if _legacy_names == '1':
    _legacy.install()
elif _legacy_names != '0':
    _legacy._answer_for_numpy()
