"""What Chainer's packages use of the compiled core beside ChainerX's public functions.

The core marks these names as private for users. Chainer finds them here only, so this list shows
all that a change in the core may break. Without the core, the module is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainerx import _availability

if TYPE_CHECKING:
    from collections.abc import Callable

if TYPE_CHECKING or _availability.reason is None:
    from chainerx import _core
    from chainerx._core import (  # noqa: F401
        _add_at as add_at,
        _backward as backward,
        _CallListener as CallListener,
        _DeviceGroup as DeviceGroup,
        _from_half as from_half,
        _fromrawpointer as fromrawpointer,
        _function_node_forward as function_node_forward,
        _get_blas_core as get_blas_core,
        _get_dnn_version as get_dnn_version,
        _integer_conv as integer_conv,
        _integer_matmul as integer_matmul,
        _inverse_sqrt as inverse_sqrt,
        _kernels as kernels,
        _linalg as linalg,
        _load_onnx as load_onnx,
        _load_onnx_bytes as load_onnx_bytes,
        _make_device_group_name as make_device_group_name,
        _mean as mean,
        _meshgrid as meshgrid,
        _numpy_gradients as numpy_gradients,
        _numpy_outputs as numpy_outputs,
        _numpy_views as numpy_views,
        _onnx_operators as onnx_operators,
        _Places as Places,
        _quantize_dynamically as quantize_dynamically,
        _random_integers as random_integers,
        _random_normal as random_normal,
        _random_seed as random_seed,
        _random_uniform as random_uniform,
        _Recorder as Recorder,
        _SavedPlan as SavedPlan,
        _Scratch as Scratch,
        _set_dnn_settings as set_dnn_settings,
        _subgraph as subgraph,
        _to_half as to_half,
        _unchain_backward as unchain_backward,
        _Watch as Watch,
    )


def update_kernel(name: str) -> Callable[..., None]:
    """Returns the kernel of an optimizer's update rule."""
    kernel: Callable[..., None] = getattr(_core, f'_{name}_update')
    return kernel
