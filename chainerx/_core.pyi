# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsFloat, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike

_Number = SupportsFloat | complex
_Operand = ndarray | _Number
_Ints = int | Sequence[int]
_DeviceLike = Device | str | None

__version__: str

class ndarray:
    __hash__: None  # type: ignore[assignment]
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def device(self) -> Device: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def is_contiguous(self) -> bool: ...
    @property
    def data_ptr(self) -> int: ...
    @property
    def data_size(self) -> int: ...
    @property
    def T(self) -> ndarray: ...
    @property
    def mT(self) -> ndarray: ...
    @property
    def grad(self) -> ndarray | None: ...
    @grad.setter
    def grad(self, grad: ndarray | None) -> None: ...
    @property
    def __array_priority__(self) -> float: ...
    __array_ufunc__: None
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def __contains__(self, value: _Operand) -> bool: ...
    def __getitem__(self, key: Any) -> ndarray: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __neg__(self) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __abs__(self) -> ndarray: ...
    def __invert__(self) -> ndarray: ...
    def __add__(self, other: _Operand) -> ndarray: ...
    def __radd__(self, other: _Operand) -> ndarray: ...
    def __iadd__(self, other: _Operand) -> ndarray: ...
    def __sub__(self, other: _Operand) -> ndarray: ...
    def __rsub__(self, other: _Operand) -> ndarray: ...
    def __isub__(self, other: _Operand) -> ndarray: ...
    def __mul__(self, other: _Operand) -> ndarray: ...
    def __rmul__(self, other: _Operand) -> ndarray: ...
    def __imul__(self, other: _Operand) -> ndarray: ...
    def __truediv__(self, other: _Operand) -> ndarray: ...
    def __rtruediv__(self, other: _Operand) -> ndarray: ...
    def __itruediv__(self, other: _Operand) -> ndarray: ...
    def __floordiv__(self, other: _Operand) -> ndarray: ...
    def __rfloordiv__(self, other: _Operand) -> ndarray: ...
    def __ifloordiv__(self, other: _Operand) -> ndarray: ...
    def __mod__(self, other: _Operand) -> ndarray: ...
    def __rmod__(self, other: _Operand) -> ndarray: ...
    def __imod__(self, other: _Operand) -> ndarray: ...
    def __pow__(self, other: _Operand) -> ndarray: ...
    def __rpow__(self, other: _Operand) -> ndarray: ...
    def __ipow__(self, other: _Operand) -> ndarray: ...
    def __matmul__(self, other: _Operand) -> ndarray: ...
    def __rmatmul__(self, other: _Operand) -> ndarray: ...
    def __and__(self, other: _Operand) -> ndarray: ...
    def __rand__(self, other: _Operand) -> ndarray: ...
    def __iand__(self, other: _Operand) -> ndarray: ...
    def __or__(self, other: _Operand) -> ndarray: ...
    def __ror__(self, other: _Operand) -> ndarray: ...
    def __ior__(self, other: _Operand) -> ndarray: ...
    def __xor__(self, other: _Operand) -> ndarray: ...
    def __rxor__(self, other: _Operand) -> ndarray: ...
    def __ixor__(self, other: _Operand) -> ndarray: ...
    def __lshift__(self, other: _Operand) -> ndarray: ...
    def __rlshift__(self, other: _Operand) -> ndarray: ...
    def __ilshift__(self, other: _Operand) -> ndarray: ...
    def __rshift__(self, other: _Operand) -> ndarray: ...
    def __rrshift__(self, other: _Operand) -> ndarray: ...
    def __irshift__(self, other: _Operand) -> ndarray: ...
    def __eq__(self, other: Any) -> ndarray: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> ndarray: ...  # type: ignore[override]
    def __lt__(self, other: Any) -> ndarray: ...
    def __le__(self, other: Any) -> ndarray: ...
    def __gt__(self, other: Any) -> ndarray: ...
    def __ge__(self, other: Any) -> ndarray: ...
    def reshape(self, *newshape: Any) -> ndarray: ...
    def transpose(self, *axes: Any) -> ndarray: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray: ...
    def __array_namespace__(self, api_version: str | None = None) -> Any: ...
    def __complex__(self) -> Any: ...
    def __copy__(self) -> ndarray: ...
    def __deepcopy__(self, memo: Any = None) -> ndarray: ...
    def __dlpack__(self, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, ...]: ...
    def __format__(self, format_spec: str) -> str: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any) -> None: ...
    def _is_chained(self, backprop_id: BackpropId | None = None) -> bool: ...
    def all(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def any(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def argmax(self, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def argmin(self, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def argsort(self, axis: int | None = -1, descending: bool = False, stable: bool = True) -> ndarray: ...
    def as_grad_stopped(self, copy: Any = False, backprop_ids: Any = None) -> ndarray: ...
    def astype(self, dtype: DTypeLike, copy: bool = True) -> ndarray: ...
    def backward(self, backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, loss_scale: float | None = None, retain_grad: bool = False) -> None: ...
    def cleargrad(self, backprop_id: BackpropId | None = None) -> None: ...
    def clip(self, a_min: _Operand | None, a_max: _Operand | None) -> ndarray: ...
    def copy(self) -> ndarray: ...
    def cumprod(self, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def cumsum(self, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray: ...
    def dot(self, b: ndarray, out: ndarray | None = None) -> ndarray: ...
    def fill(self, value: ndarray | _Number) -> None: ...
    def flatten(self) -> ndarray: ...
    def get_grad(self, backprop_id: BackpropId | None = None) -> ndarray | None: ...
    def is_backprop_required(self, backprop_id: AnyGraph | BackpropId | None = None) -> bool: ...
    def is_grad_required(self, backprop_id: AnyGraph | BackpropId | None = None) -> bool: ...
    def item(self) -> bool | int | float | complex: ...
    def max(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def mean(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def min(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def nonzero(self) -> tuple[ndarray, ...]: ...
    def prod(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def ravel(self) -> ndarray: ...
    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> ndarray: ...
    def require_grad(self, backprop_id: BackpropId | None = None) -> ndarray: ...
    def round(self, decimals: int = 0) -> ndarray: ...
    def searchsorted(self, v: ndarray | _Number, side: Literal['left', 'right'] = 'left', sorter: ndarray | None = None) -> ndarray: ...
    def set_grad(self, grad: ndarray | None, backprop_id: BackpropId | None = None) -> None: ...
    def sort(self, axis: int = -1) -> None: ...
    def squeeze(self, axis: _Ints | None = None) -> ndarray: ...
    def std(self, axis: _Ints | None = None, keepdims: bool = False, correction: float = 0, out: ndarray | None = None) -> ndarray: ...
    def sum(self, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
    def swapaxes(self, axis1: int, axis2: int) -> ndarray: ...
    def take(self, indices: ndarray | ArrayLike, axis: int | None = None, mode: Literal['raise', 'wrap', 'clip'] | None = None) -> ndarray: ...
    def to_device(self, device: Any, index: int | None = None, stream: Any = None) -> ndarray: ...
    def tolist(self) -> Any: ...
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, out: ndarray | None = None) -> ndarray: ...
    def var(self, axis: _Ints | None = None, keepdims: bool = False, correction: float = 0, out: ndarray | None = None) -> ndarray: ...
    def view(self) -> ndarray: ...

class ChainerxError(Exception): ...

class BackendError(ChainerxError): ...

class ContextError(ChainerxError): ...

class DeviceError(ChainerxError): ...

class GradientCheckError(ChainerxError): ...

class GradientError(ChainerxError): ...

class DimensionError(ChainerxError, builtins.ValueError): ...

class DtypeError(ChainerxError, builtins.TypeError): ...

class ModelError(ChainerxError, builtins.ValueError): ...

class TypeError(ChainerxError, builtins.TypeError): ...

class ValueError(ChainerxError, builtins.ValueError): ...

class IndexError(ChainerxError, builtins.IndexError): ...

class NotImplementedError(ChainerxError, builtins.NotImplementedError): ...

class AnyGraph: ...

class Backend:
    @property
    def context(self) -> Context: ...
    def get_device(self, index: int) -> Device: ...
    def get_device_count(self) -> int: ...
    @property
    def name(self) -> str: ...

class BackpropId:
    @property
    def context(self) -> Context: ...
    @property
    def name(self) -> str: ...

class BackpropScope:
    def __enter__(self) -> BackpropId: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, backprop_name: str, context: Context | None = None) -> None: ...

class Context:
    def __init__(self) -> None: ...
    def _check_valid_backprop_id(self, backprop_id: BackpropId) -> None: ...
    def get_backend(self, backend_name: str) -> Backend: ...
    def get_device(self, device_name: str, index: int | None = None) -> Device: ...
    def make_backprop_id(self, backprop_name: str) -> BackpropId: ...
    def release_backprop_id(self, backprop_id: BackpropId) -> None: ...

class ContextScope:
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, context: Context) -> None: ...

class Device:
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def context(self) -> Context: ...
    @property
    def current_stream(self) -> Stream: ...
    def free_unused_blocks(self) -> None: ...
    @property
    def index(self) -> int: ...
    def memory_statistics(self) -> dict[str, Any]: ...
    @property
    def name(self) -> str: ...
    def reset_memory_peaks(self) -> None: ...
    def set_memory_limit(self, size: int | None = None) -> None: ...
    def synchronize(self) -> None: ...

class DeviceScope:
    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, device: Any, index: int | None = None) -> None: ...
    @property
    def device(self) -> Device: ...

class ForceBackpropMode:
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, backprop_ids: Any = None) -> None: ...

class NoBackpropMode:
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, backprop_ids: Any = None) -> None: ...

class Stream:
    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, device: _DeviceLike = None, ptr: int | None = None, owner: Any = None) -> None: ...
    @property
    def device(self) -> Device: ...
    @property
    def done(self) -> bool: ...
    @property
    def ptr(self) -> int: ...
    def synchronize(self) -> None: ...
    def wait(self, stream: Stream) -> None: ...

class _CallListener:
    def __init__(self) -> None: ...
    def forget_program(self) -> None: ...
    def start(self, on_call: Callable[..., Any], on_builtin: Callable[..., Any], on_warning: Callable[..., Any]) -> None: ...
    def stop(self) -> None: ...

class _DeviceGroup:
    def __init__(self, device: _DeviceLike, size: int, name: str, rank: int) -> None: ...
    def broadcast(self, array: ndarray, root: int) -> None: ...
    def sum(self, array: ndarray, root: int) -> None: ...
    def sum_to_all(self, array: ndarray) -> None: ...

class _OnnxModel:
    @property
    def device(self) -> Device: ...
    @property
    def input_names(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> tuple[tuple[str, str | None, tuple[int | str | None, ...] | None], ...]: ...
    @property
    def output_names(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[tuple[str, str | None, tuple[int | str | None, ...] | None], ...]: ...
    def run(self, inputs: Any) -> list[Any]: ...
    @property
    def steps(self) -> tuple[str, ...]: ...
    def __call__(self, *inputs: ArrayLike | ndarray) -> Any: ...

class _Places:
    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: Any = None, exc_value: Any = None, traceback: Any = None) -> None: ...
    def __init__(self, arrays: Sequence[ndarray]) -> None: ...

class _Plan:
    @property
    def blocks(self) -> Any: ...
    @property
    def call_count(self) -> int: ...
    def describe(self) -> str: ...
    def draw_as(self, recorder: _Recorder) -> None: ...
    def fits(self, inputs: Sequence[ndarray]) -> bool: ...
    @property
    def input_count(self) -> int: ...
    def keeps(self, array: ndarray) -> bool: ...
    def lose_graphs(self, results: int | Sequence[int], leaves: Sequence[ndarray]) -> None: ...
    @property
    def own_bytes(self) -> int: ...
    @property
    def recorded_count(self) -> int: ...
    @property
    def refusal(self) -> str: ...
    @property
    def result_count(self) -> int: ...
    def run(self, segment: int) -> None: ...
    def save(self, path: str, guards: Sequence[str], inputs: Sequence[str], names: Sequence[str], arrays: Sequence[ndarray], outputs: Sequence[str], results: int | Sequence[int], scalars: Sequence[int | Sequence[int]], values: Sequence[Sequence[float]], states: Sequence[int | Sequence[int]], state_values: Sequence[ndarray]) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    @property
    def segment_count(self) -> int: ...
    def set_measured(self, is_measured: bool) -> None: ...
    def set_scalars(self, index: int, scalars: Sequence[float]) -> None: ...
    def start(self, inputs: Sequence[ndarray]) -> list[ndarray]: ...
    @property
    def submitted_count(self) -> int: ...
    @property
    def unshared_scratch_bytes(self) -> int: ...

class _Recorder:
    def __init__(self, device: _DeviceLike, on_graph_break: Any, scratch: _Scratch | None = None) -> None: ...
    @property
    def graph_break(self) -> str: ...
    def is_new(self, array: ndarray) -> bool: ...
    def is_used(self, array: ndarray) -> bool: ...
    def mark(self) -> None: ...
    def note(self, what: str) -> None: ...
    def plan(self, inputs: Sequence[ndarray], held: Sequence[ndarray], results: Sequence[ndarray], targets: Sequence[ndarray], grads: int | Sequence[int], segments: int | Sequence[int], renewed: Sequence[ndarray]) -> Any: ...
    @property
    def scalars_count(self) -> int: ...
    @property
    def segment(self) -> int: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def watch_data(self, on_data: Any) -> None: ...

class _SavedPlan:
    def __init__(self, path: str, device: _DeviceLike) -> None: ...
    def find(self, name: str) -> ndarray: ...
    @property
    def guards(self) -> Any: ...
    @property
    def inputs(self) -> Any: ...
    @property
    def kernels(self) -> Any: ...
    @property
    def names(self) -> Any: ...
    @property
    def outputs(self) -> Any: ...
    def run(self, inputs: Sequence[ndarray]) -> list[ndarray]: ...
    def save(self, path: str) -> None: ...

class _Scratch:
    def __init__(self) -> None: ...
    @property
    def bytes(self) -> int: ...

class _Subgraph:
    def grad(self, indexes: int | Sequence[int], grad_outputs: Any, recorded: bool = True) -> list[ndarray]: ...
    def numpy_grad(self, indexes: int | Sequence[int], grad_outputs: Any) -> tuple[Any, ...]: ...
    def of_gradients(self, grad_outputs: Any, grad_inputs: Any) -> _Subgraph: ...

class _Watch:
    def __init__(self) -> None: ...
    def add_array(self, array: Any) -> None: ...
    def add_attributes(self, object: Any, ignored: Any = None) -> None: ...
    def add_class(self, type: Any) -> None: ...
    def add_data(self, object: Any) -> None: ...
    def add_elements(self, iterable: Any) -> None: ...
    def add_entry(self, dict: Any, key: Any) -> None: ...
    def add_function(self, function: Any) -> None: ...
    def add_items(self, container: Any, ignored: Any = None) -> None: ...
    def add_items_of_entry(self, dict: Any, key: Any) -> None: ...
    def add_member(self, object: Any, name: Any) -> None: ...
    def find_change(self) -> int: ...
    def find_changes(self) -> Any: ...
    def flags_of(self, array: Any) -> int: ...
    def form_of(self, array: Any) -> Any: ...

def _backward(outputs: Sequence[ndarray], loss_scale: float | None = None, retain_grad: bool = False, on_leaf: Callable[..., Any] | None = None, inputs: Sequence[ndarray] | None = None) -> None:
    """Runs backward with the options of BackwardOptions in C++."""

def _from_half(halves: Any, floats: Any, is_bfloat16: bool) -> None:
    """Inverse of ``_to_half``."""

def _fromrawpointer(data_ptr: Any, shape: _Ints, dtype: DTypeLike, strides: int | Sequence[int], device: _DeviceLike, offset: int, base: Any) -> ndarray:
    """An array over memory at an address on a device, owned by ``base``."""

def _function_node_forward(function_node: Any, inputs: Sequence[ndarray], outputs: Sequence[ndarray | None], input_indexes_to_retain: int | Sequence[int], output_indexes_to_retain: int | Sequence[int]) -> list[ndarray]:
    """Connects outputs that a chainer.FunctionNode has computed to its inputs."""

def _get_blas_core() -> tuple[Any, ...]:
    """The type of processor OpenBLAS works for, why it is this one, and whether its products of float32 have the same bits wherever blocks begin."""

def _get_dnn_version() -> int:
    """The version of cuDNN that the CUDA backend has found, such as 91002 for 9.10.2; 0 without one."""

def _get_num_threads() -> int:
    """Threads that kernels may use."""

def _integer_conv(x: ndarray, w: ndarray, x_zero: ndarray | None, w_zero: ndarray | None, stride: _Ints, pad: _Ints, end_pad: _Ints, dilate: _Ints, groups: int) -> ndarray:
    """Convolution of 8-bit integers less their zero points, as int32."""

def _integer_matmul(a: ndarray, b: ndarray, a_zero: ndarray | None = None, b_zero: ndarray | None = None) -> ndarray:
    """Product of 8-bit integers less their zero points, as int32."""

def _kernels(backend: str) -> list[Any]:
    """(name, present) of each kernel of a backend."""

def _live_array_count() -> int:
    """Number of arrays alive in the process."""

def _load_onnx(path: str, device: _DeviceLike = None) -> _OnnxModel:
    """Loads an ONNX file."""

def _load_onnx_bytes(data: Any, folder: str = '', device: _DeviceLike = None) -> _OnnxModel:
    """Loads the bytes of an ONNX file."""

def _make_device_group_name(device: _DeviceLike) -> str:
    """A new name of a group of GPUs, with which each of its members joins it."""

def _mean(sources: Any, results: Any) -> None:
    """Writes the mean of arrays of float32 to others."""

def _numpy_gradients(grads: Any) -> list[ndarray]:
    """ChainerX arrays of NumPy gradients."""

def _numpy_outputs(inputs: Any, outputs: Any) -> tuple[Any, ...]:
    """NumPy views of outputs, and the graph behind them."""

def _numpy_views(arrays: Any, requires_grad: Any) -> Any:
    """Views of NumPy arrays, or None if there is anything unusual about them."""

def _onnx_operators() -> tuple[str, ...]:
    """The operators that models can have."""

def _ops() -> list[Any]:
    """What the module knows about each op."""

def _quantize_dynamically(x: ndarray) -> list[ndarray]:
    """Numbers as uint8, their scale and their zero point."""

def _random_seed(seed: int) -> None:
    """Seeds the context's generator."""

def _rebuild_array(values: Any, device: str, dtype: DTypeLike | None = None) -> ndarray:
    """Makes an array from its pickled state."""

def _set_dnn_settings(function: Any) -> None:
    """Sets a function that gives a thread's settings of cuDNN: use, autotune, deterministic, fast
    batch normalization, bytes of the largest workspace."""

def _set_num_threads(n: int) -> None:
    """Sets the number of threads that kernels may use."""

def _subgraph(inputs: Any, outputs: Any) -> Any:
    """The graph from inputs to outputs, if there is one."""

def _to_cupy(array: ndarray) -> Any:
    """The array as cupy.ndarray; it must live on a CUDA device."""

def _to_half(floats: Any, halves: Any, is_bfloat16: bool) -> None:
    """Rounds float32 to the bits of 16-bit numbers."""

def _types() -> dict[str, Any]:
    """The types of parameters and result of each function and method, for type stubs."""

def _unchain_backward(array: ndarray) -> None:
    """Cuts every edge from the array back to the leaves, in all graphs."""

anygraph: AnyGraph

def backward(outputs: ndarray | Sequence[ndarray], backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, loss_scale: float | None = None, retain_grad: bool = False) -> None:
    """Computes gradients of arrays with respect to all that require one, and adds them to their ``grad``."""

def check_backward(func: Callable[..., Any], inputs: Sequence[ndarray], grad_outputs: Any, eps: Sequence[ndarray], atol: float = 1e-05, rtol: float = 0.0001, backprop_id: BackpropId | None = None) -> None:
    """Compares gradients of a function with central differences."""

def check_double_backward(func: Callable[..., Any], inputs: Sequence[ndarray], grad_outputs: Sequence[ndarray], grad_grad_inputs: Sequence[ndarray], eps: Sequence[ndarray], atol: float = 1e-05, rtol: float = 0.0001, backprop_id: BackpropId | None = None) -> None:
    """Compares second gradients of a function with central differences."""

def from_dlpack(x: Any, device: _DeviceLike = None, copy: Any = None) -> ndarray:
    """Makes an array that shares the memory of an array of another library, such as NumPy, CuPy or PyTorch."""

def get_backend(backend_name: str) -> Backend:
    """Finds a backend of the default context."""

def get_compute_mode() -> str:
    """Tells how backends may multiply float32 matrices; see :func:`~chainerx.set_compute_mode`."""

def get_default_context() -> Context:
    """Tells the calling thread's default context: the one set for it, else the global one."""

def get_default_device() -> Device:
    """Tells the calling thread's default device, on which arrays are made unless another one is given."""

def get_device(device: Any = None, index: int | None = None) -> Device:
    """Finds a device of the default context."""

def get_global_default_context() -> Context:
    """Tells the context of threads that have not set one."""

def grad(outputs: ndarray | Sequence[ndarray], inputs: ndarray | Sequence[ndarray], backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, set_grad: bool = False, retain_grad: bool = False, grad_outputs: Any = (), loss_scale: float | None = None) -> list[ndarray]:
    """Computes and returns gradients of arrays with respect to given ones."""

def is_backprop_required(context: Any = None) -> bool:
    """Tells whether the calling thread records computations."""

def set_compute_mode(mode: str) -> None:
    """Chooses how backends may multiply float32 matrices, for all threads."""

def set_default_context(context: Context | None) -> None:
    """Sets the calling thread's default context."""

def set_default_device(device: _DeviceLike) -> None:
    """Sets the calling thread's default device."""

def set_global_default_context(context: Context | None) -> None:
    """Sets the context of threads that have not set one."""

def to_numpy(array: ndarray, copy: bool = True) -> numpy.ndarray:
    """Converts an array to NumPy. The result does not belong to a graph, whether ``array`` does or not."""

backprop_scope = BackpropScope
context_scope = ContextScope
force_backprop_mode = ForceBackpropMode
no_backprop_mode = NoBackpropMode
using_device = DeviceScope

class _linalg:
    @staticmethod
    def solve(a: ndarray, b: ndarray) -> ndarray: ...
    @staticmethod
    def inv(a: ndarray) -> ndarray: ...
    @staticmethod
    def pinv(a: ndarray, rcond: float = 1e-15) -> ndarray: ...
    @staticmethod
    def qr(a: ndarray, mode: Literal['reduced', 'complete', 'r', 'raw'] = 'reduced') -> ndarray | tuple[ndarray, ndarray]: ...
    @staticmethod
    def svd(a: ndarray, full_matrices: bool = True, compute_uv: bool = True) -> ndarray | tuple[ndarray, ndarray, ndarray]: ...
    @staticmethod
    def cholesky(a: ndarray) -> ndarray: ...
    @staticmethod
    def eigh(a: ndarray, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> tuple[ndarray, ndarray]: ...
    @staticmethod
    def eigvalsh(a: ndarray, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> ndarray: ...
    @staticmethod
    def slogdet(a: ndarray) -> tuple[ndarray, ndarray]: ...
    @staticmethod
    def norm(x: ndarray, ord: float | str | None = None, axis: _Ints | None = None, keepdims: bool = False) -> ndarray: ...
    @staticmethod
    def det(a: ndarray) -> ndarray: ...

class _fft:
    @staticmethod
    def fft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def ifft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def fftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def ifftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def rfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def irfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def rfftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def irfftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def hfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def ihfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray: ...
    @staticmethod
    def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray: ...
    @staticmethod
    def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray: ...
    @staticmethod
    def fftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray: ...
    @staticmethod
    def ifftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray: ...

# ---- arithmetic

def add(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise sum :math:`x_1 + x_2`; also the operator ``+``. Of booleans: logical
    or."""

def subtract(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise difference :math:`x_1 - x_2`; also the operator ``-``."""

def multiply(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise product :math:`x_1 x_2`; also the operator ``*``. Of booleans:
    logical and."""

def divide(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise quotient :math:`x_1 / x_2`, always in floating point; also the
    operator ``/``."""

def floor_divide(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise quotient rounded down, :math:`\lfloor x_1 / x_2 \rfloor`;
    also the operator ``//``."""

def remainder(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise remainder :math:`x_1 - \lfloor x_1 / x_2 \rfloor x_2`, with the
    sign of the divisor; also the operator ``%``."""

def fmod(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise remainder of the division rounded towards zero, with the sign of the
    dividend."""

def power(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise power :math:`x_1^{x_2}`; also the operator ``**``. As in NumPy,
    integers to negative integers are a ``ValueError``: one of both must be of a floating point dtype."""

def negative(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise negation :math:`-x`; also the operator ``-``."""

def reciprocal(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise reciprocal :math:`1 / x`."""

def maximum(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise larger one of two values; not-a-number wins."""

def minimum(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise smaller one of two values; not-a-number wins."""

@overload
def where(condition: _Operand, x: _Operand, y: _Operand) -> ndarray: ...
@overload
def where(condition: ndarray) -> tuple[ndarray, ...]: ...

def _conj(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise complex conjugate."""

def _clip(x: _Operand, a_min: _Operand, a_max: _Operand) -> ndarray:
    """Elementwise limits on both sides."""

def clip(a: ndarray, a_min: _Operand | None, a_max: _Operand | None) -> ndarray:
    r"""Elementwise limits, :math:`\min(\max(a, a_{min}), a_{max})`."""

def round(a: ndarray, decimals: int = 0) -> ndarray:
    r"""Elements rounded to a number of decimals, :math:`10^{-d} \operatorname{rint}(10^d a)`; halves go to the even one."""

# ---- comparison

def equal(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise :math:`x_1 = x_2`; also the operator ``==``."""

def not_equal(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`x_1 \ne x_2`; also the operator ``!=``."""

def greater(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise :math:`x_1 > x_2`; also the operator ``>``."""

def greater_equal(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`x_1 \ge x_2`; also the operator ``>=``."""

def less(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise :math:`x_1 < x_2`; also the operator ``<``."""

def less_equal(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`x_1 \le x_2`; also the operator ``<=``."""

def logical_and(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logical and; numbers other than zero are true."""

def logical_or(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logical or; numbers other than zero are true."""

def logical_xor(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise exclusive or of truth values; numbers other than zero are
    true."""

def logical_not(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logical negation; numbers other than zero are true."""

def isnan(x: _Operand, out: ndarray | None = None) -> ndarray:
    """True where an element is not a number."""

def isinf(x: _Operand, out: ndarray | None = None) -> ndarray:
    """True where an element is infinite."""

def isfinite(x: _Operand, out: ndarray | None = None) -> ndarray:
    """True where an element is neither infinite nor not-a-number."""

def bitwise_and(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise bitwise and; also the operator ``&``."""

def bitwise_or(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise bitwise or; also the operator ``|``."""

def bitwise_xor(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise bitwise exclusive or; also the operator ``^``."""

def invert(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise bitwise negation, logical negation of booleans; also the operator ``~``."""

def left_shift(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise shift of the bits of ``x1`` to the left by ``x2``; also the
    operator ``<<``."""

def right_shift(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise shift of the bits of ``x1`` to the right by ``x2``, keeping
    the sign; also the operator ``>>``."""

def isclose(a: _Operand, b: _Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> ndarray:
    r"""Whether elements are nearly equal, :math:`|a - b| \le atol + rtol \, |b|`."""

def allclose(a: _Operand, b: _Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are nearly equal, as :func:`chainerx.isclose` says. Not differentiable."""

def array_equal(a1: ndarray, a2: ndarray, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements. Not differentiable."""

# ---- explog

def exp(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise exponential :math:`e^x`."""

def exp2(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise power of two :math:`2^x`."""

def expm1(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise :math:`e^x - 1`, precise near zero."""

def log(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise natural logarithm :math:`\log x`."""

def log2(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logarithm to the base 2."""

def log10(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logarithm to the base 10."""

def log1p(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`\log(1 + x)`, precise near zero."""

def sqrt(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise square root :math:`\sqrt{x}`."""

def erf(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise Gauss error function :math:`\frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt`."""

def square(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise square :math:`x^2`."""

def absolute(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise absolute value :math:`|x|`; also the function ``abs``. It is real for
    complex numbers, too."""

def fabs(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise absolute value :math:`|x|`, always in floating point."""

def sign(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise sign: -1, 0 or 1; of complex numbers :math:`x / |x|`, or 0."""

def floor(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise rounding down, :math:`\lfloor x \rfloor`."""

def ceil(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise rounding up, :math:`\lceil x \rceil`."""

def trunc(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise rounding towards zero."""

def rint(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise rounding to the nearest integer, halves to the even one."""

def copysign(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise magnitude of ``x1`` with the sign of ``x2``."""

def signbit(x: _Operand, out: ndarray | None = None) -> ndarray:
    """True where the sign of an element is negative, also of zero."""

def nextafter(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise floating point number that follows ``x1`` in the direction of
    ``x2``."""

def hypot(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise length :math:`\sqrt{x_1^2 + x_2^2}` of the hypotenuse, without
    overflow of the squares."""

def logaddexp(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`\log(e^{x_1} + e^{x_2})`, without overflow."""

# ---- complex

def real(x: ndarray) -> ndarray:
    """Elementwise real part: a view of a complex array, and a real array itself."""

def imag(x: ndarray) -> ndarray:
    """Elementwise imaginary part: a view of a complex array, and zeros for a real one."""

def conj(x: ndarray) -> ndarray:
    """Elementwise complex conjugate; a real array itself."""

def angle(x: ndarray) -> ndarray:
    r"""Elementwise angle of complex numbers with the positive real axis, in radians between :math:`-\pi` and :math:`\pi`."""

# ---- trigonometric

def sin(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise sine of radians."""

def cos(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise cosine of radians."""

def tan(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise tangent of radians."""

def arcsin(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse sine, in radians, for :math:`-1 \le x \le 1`."""

def arccos(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse cosine, in radians, for :math:`-1 \le x \le 1`."""

def arctan(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise inverse tangent, in radians."""

def arctan2(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise angle of the point :math:`(x_2, x_1)`, in radians between
    :math:`-\pi` and :math:`\pi`."""

def sinh(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise hyperbolic sine."""

def cosh(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise hyperbolic cosine."""

def tanh(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise hyperbolic tangent."""

def arcsinh(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise inverse hyperbolic sine."""

def arccosh(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse hyperbolic cosine, for :math:`x \ge 1`."""

def arctanh(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse hyperbolic tangent, for :math:`-1 \le x \le 1`."""

# ---- special

def erfc(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`1 - \mathrm{erf}(x)`, precise where that is small."""

def erfcx(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise scaled complementary error function :math:`e^{x^2} \mathrm{erfc}(x)`."""

def erfinv(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse of the error function, for :math:`-1 \le x \le 1`."""

def erfcinv(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse of the complementary error function, for :math:`0 \le x \le 2`."""

def ndtr(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise distribution function :math:`\Phi(x)` of the standard normal distribution."""

def log_ndtr(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise :math:`\log \Phi(x)` of the standard normal distribution function,
    precise for very negative values."""

def ndtri(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse :math:`\Phi^{-1}(x)` of the standard normal distribution
    function."""

def lgamma(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise logarithm :math:`\log |\Gamma(x)|` of the gamma function."""

def digamma(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise derivative of the logarithm of the gamma function."""

def zeta(x: _Operand, q: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise Hurwitz's zeta function :math:`\sum_{k=0}^\infty (q + k)^{-x}`."""

# ---- activation

def relu(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise rectified linear unit :math:`\max(0, x)`. Its derivative at zero is zero."""

def _relu_grad(gy: _Operand, y: _Operand, out: ndarray | None = None) -> ndarray:
    """``gy`` where the output of relu is positive, zero elsewhere."""

def sigmoid(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise logistic function :math:`1 / (1 + e^{-x})`."""

def _sigmoid_grad(gy: _Operand, y: _Operand, out: ndarray | None = None) -> ndarray:
    """``gy * y * (1 - y)``."""

def leaky_relu(x: _Operand, slope: float = 0.2) -> ndarray:
    """Elementwise ``x`` where it is not negative, ``slope * x`` elsewhere."""

def elu(x: _Operand, alpha: float = 1.0) -> ndarray:
    r"""Elementwise ``x`` where positive, :math:`\alpha (e^x - 1)` elsewhere."""

def softplus(x: _Operand, beta: float = 1.0) -> ndarray:
    r"""Elementwise smooth rectifier :math:`\log(1 + e^{\beta x}) / \beta`."""

def clipped_relu(x: _Operand, z: float = 20.0) -> ndarray:
    r"""Elementwise rectified linear unit with a limit,
    :math:`\min(\max(0, x), z)`."""

def silu(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise sigmoid linear unit :math:`x / (1 + e^{-x})`."""

def gelu(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise Gaussian error linear unit :math:`x \Phi(x)`, where :math:`\Phi` is the
    standard normal distribution function."""

def crelu(x: ndarray, axis: int = 1) -> ndarray:
    r"""Concatenated rectified linear unit: :math:`\max(0, x)` and :math:`\max(0, -x)`, joined along an axis."""

# ---- reduction

def sum(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Sum of elements over axes."""

def nansum(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Sum of elements over axes, with NaN counted as zero."""

def prod(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Product of elements over axes."""

def mean(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    r"""Arithmetic mean :math:`\mu = \frac{1}{n} \sum_i a_i` over axes."""

def var(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, correction: float = 0, out: ndarray | None = None) -> ndarray:
    r"""Variance :math:`\frac{1}{n - c} \sum_i (a_i - \mu)^2` over axes; its bias has no correction :math:`c` unless given."""

def std(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, correction: float = 0, out: ndarray | None = None) -> ndarray:
    """Standard deviation over axes: the square root of the variance, without correction of its bias unless given."""

def amax(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Largest element over axes; not-a-number wins. Also called ``max``."""

def amin(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Smallest element over axes; not-a-number wins. Also called ``min``."""

def all(x: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Whether all elements over axes are nonzero."""

def any(x: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Whether any element over axes is nonzero."""

def argmax(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Index of the largest element along an axis, the first one of several."""

def argmin(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Index of the smallest element along an axis, the first one of several."""

def nanargmax(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Index of the largest element along an axis, ignoring NaN."""

def nanargmin(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Index of the smallest element along an axis, ignoring NaN."""

def count_nonzero(a: ndarray, axis: _Ints | None = None) -> ndarray:
    """Number of nonzero elements over axes."""

def cumsum(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    r"""Cumulative sum :math:`y_i = a_0 + \dots + a_i` along an axis."""

def diff(a: ndarray, n: int = 1, axis: int = -1, prepend: ndarray | None = None, append: ndarray | None = None) -> ndarray:
    """Differences of neighbours :math:`y_i = a_{i+1} - a_i` along an axis."""

def cumprod(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    r"""Cumulative product :math:`y_i = a_0 \cdots a_i` along an axis."""

def logsumexp(x: ndarray, axis: _Ints | None = None, keepdims: bool = False) -> ndarray:
    r"""Logarithm of the sum of exponentials :math:`\log \sum_i e^{x_i}` over axes, without overflow."""

def softmax(x: ndarray, axis: _Ints | None = None) -> ndarray:
    r"""Softmax :math:`y_i = e^{x_i} / \sum_j e^{x_j}`."""

def log_softmax(x: ndarray, axis: _Ints | None = None) -> ndarray:
    r"""Logarithm of the softmax, :math:`y_i = x_i - \log \sum_j e^{x_j}`."""

# ---- statistics

def median(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Median over axes: the element in the middle of the sorted ones, or the mean of the two in the middle."""

def percentile(a: ndarray, q: _Number | Sequence[_Number] | numpy.ndarray | ndarray, axis: _Ints | None = None, method: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Percentiles over axes: elements of the sorted ones, from the first (0) to the last (100)."""

def quantile(a: ndarray, q: _Number | Sequence[_Number] | numpy.ndarray | ndarray, axis: _Ints | None = None, method: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Quantiles over axes: elements of the sorted ones, from the first (0) to the last (1)."""

def nanprod(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Product of elements over axes, with NaN counted as one."""

def nanmean(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Arithmetic mean over axes, ignoring NaN."""

def nanvar(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Variance over axes, ignoring NaN, without correction of its bias; see :func:`chainerx.var`."""

def nanstd(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Standard deviation over axes, ignoring NaN: the square root of :func:`chainerx.nanvar`."""

def nanmax(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Largest element over axes, ignoring NaN."""

def nanmin(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Smallest element over axes, ignoring NaN."""

def nanmedian(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Median over axes, ignoring NaN; see :func:`chainerx.median`."""

def nanpercentile(a: ndarray, q: _Number | Sequence[_Number] | numpy.ndarray | ndarray, axis: _Ints | None = None, method: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Percentiles over axes, ignoring NaN; see :func:`chainerx.percentile`."""

def nanquantile(a: ndarray, q: _Number | Sequence[_Number] | numpy.ndarray | ndarray, axis: _Ints | None = None, method: Literal['linear', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Quantiles over axes, ignoring NaN; see :func:`chainerx.quantile`."""

def nancumsum(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Cumulative sum along an axis, with NaN counted as zero; see :func:`chainerx.cumsum`."""

def nancumprod(a: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Cumulative product along an axis, with NaN counted as one; see :func:`chainerx.cumprod`."""

def nan_to_num(x: ndarray, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> ndarray:
    """Elements with numbers in place of NaN and infinity."""

def bincount(x: ndarray, weights: ndarray | None = None, minlength: int = 0) -> ndarray:
    r"""How often each integer from zero on occurs, or sums of weights, :math:`y_i = \sum_{j: x_j = i} w_j`."""

def histogram(a: ndarray, bins: _Number | Sequence[_Number] | numpy.ndarray | ndarray = 10, range: _Number | Sequence[_Number] | numpy.ndarray | ndarray | None = None, density: bool = False, weights: ndarray | None = None) -> tuple[ndarray, ndarray]:
    """Numbers of elements in bins, and the edges of the bins."""

# ---- linalg

def dot(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """Sum product over the last axis of ``a`` and the last but one of ``b``."""

def matmul(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """Matrix product :math:`a b` of the last two axes; also the operator ``@``."""

def vecdot(x1: ndarray, x2: ndarray, axis: int = -1) -> ndarray:
    r"""Sum products :math:`\sum_i \overline{x_{1,i}} x_{2,i}` of the vectors along an axis."""

def matrix_transpose(x: ndarray) -> ndarray:
    """Transposed matrices, a view with the last two axes interchanged; also the property ``mT`` of arrays."""

def inner(a: ndarray, b: ndarray) -> ndarray:
    r"""Sum product over the last axes, :math:`y_{i \dots j \dots} = \sum_l a_{i \dots l} \, b_{j \dots l}`."""

def vdot(a: ndarray, b: ndarray) -> ndarray:
    r"""Sum product over all elements, :math:`\sum_i \overline{a_i} b_i`."""

def trace(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1, out: ndarray | None = None) -> ndarray:
    r"""Sum over a diagonal of two axes, :math:`\sum_i a_{i, i + k}` for an offset :math:`k`."""

def outer(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """Matrix of the products :math:`y_{ij} = a_i b_j` of the elements of two flattened arrays."""

def kron(a: ndarray, b: ndarray) -> ndarray:
    """Kronecker product: blocks of ``b``, scaled by the elements of ``a``."""

def cross(a: ndarray, b: ndarray, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """Cross product of vectors in three dimensions."""

def linear(x: ndarray, W: ndarray, b: ndarray | None = None, n_batch_axis: int = 1) -> ndarray:
    r"""Affine map :math:`y = x W^\top + b`."""

def tensordot(a: ndarray, b: ndarray, axes: int | Sequence[_Ints] = 2) -> ndarray:
    """Sum product over several axes of two arrays."""

def einsum(*operands: Any, optimize: bool = True) -> ndarray:
    """Einstein summation: products of elements, summed over labels that are not in the result."""

def quantized_linear(x: ndarray, W: ndarray, scale: ndarray, zero_point: ndarray | None = None, b: ndarray | None = None, dtype: Literal['int2', 'int4', 'int8', 'uint2', 'uint4', 'uint8'] = 'int4', block_size: int = 32) -> ndarray:
    r"""Affine map :math:`y = x W^\top + b` with a constant matrix of few bits, :math:`W_{ij} = s_{ik} (q_{ij} - z_{ik})`."""

# ---- loss

def absolute_error(x1: ndarray, x2: ndarray) -> ndarray:
    """Elementwise absolute error :math:`|x_1 - x_2|`."""

def squared_error(x1: ndarray, x2: ndarray) -> ndarray:
    """Elementwise squared error :math:`(x_1 - x_2)^2`."""

def gaussian_kl_divergence(mean: ndarray, ln_var: ndarray) -> ndarray:
    """Elementwise Kullback-Leibler divergence of a Gaussian from the standard one."""

def huber_loss(x1: ndarray, x2: ndarray, delta: float) -> ndarray:
    """Elementwise Huber loss: quadratic near zero, linear beyond ``delta``."""

def sigmoid_cross_entropy(x1: ndarray, x2: ndarray) -> ndarray:
    """Elementwise cross entropy of the sigmoid of scores with labels."""

def softmax_cross_entropy(x1: ndarray, x2: ndarray, ignore_label: int = -1, class_weight: ndarray | None = None, reduce: str = 'no', normalize: bool = True) -> ndarray:
    """Cross entropy of the softmax of scores with classes."""

def hinge(x1: ndarray, x2: ndarray, norm: float = 1.0) -> ndarray:
    """Hinge loss of scores and classes."""

def accuracy(y: ndarray, t: ndarray, ignore_label: int | None = None) -> ndarray:
    """Fraction of the samples for which the score of their class is the largest."""

# ---- manipulation

def reshape(a: ndarray, newshape: _Ints) -> ndarray:
    """The same elements in another shape."""

def ravel(a: ndarray) -> ndarray:
    """The elements in one dimension, in C order."""

def transpose(a: ndarray, axes: _Ints | None = None) -> ndarray:
    """The axes in another order, as a view."""

def squeeze(a: ndarray, axis: _Ints | None = None) -> ndarray:
    """The array without axes of length one, as a view."""

def expand_dims(a: ndarray, axis: int) -> ndarray:
    """The array with a new axis of length one, as a view."""

def swapaxes(a: ndarray, axis1: int, axis2: int) -> ndarray:
    """The array with two axes interchanged, as a view."""

def moveaxis(a: ndarray, source: _Ints, destination: _Ints) -> ndarray:
    """The array with some axes moved to other places, as a view; the others keep their order."""

def rollaxis(a: ndarray, axis: int, start: int = 0) -> ndarray:
    """The array with an axis moved to before another one, as a view."""

def flip(m: ndarray, axis: _Ints | None = None) -> ndarray:
    """The elements in reverse order along axes, as a view."""

def fliplr(m: ndarray) -> ndarray:
    """The elements in reverse order along axis 1, as a view."""

def flipud(m: ndarray) -> ndarray:
    """The elements in reverse order along axis 0, as a view."""

def broadcast_to(array: ndarray, shape: _Ints) -> ndarray:
    """The array repeated to a larger shape, as a view."""

def copy(a: ndarray) -> ndarray:
    """A copy of the array, in C order."""

def concatenate(arrays: Sequence[ndarray], axis: int | None = 0) -> ndarray:
    """Arrays joined along an axis."""

def stack(arrays: Sequence[ndarray], axis: int = 0) -> ndarray:
    """Arrays joined along a new axis."""

def hstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 1, or along axis 0 if they have one dimension."""

def vstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 0; those of one dimension become rows."""

def dstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 2, which is added where it is missing."""

def atleast_2d(a: ndarray) -> ndarray:
    """The array with axes of length one in front, if it has less than two dimensions."""

def atleast_3d(a: ndarray) -> ndarray:
    """The array with axes of length one, if it has less than three dimensions."""

def repeat(a: ndarray, repeats: int | Sequence[int], axis: int | None = None) -> ndarray:
    """Each element repeated."""

def tile(A: ndarray, reps: _Ints) -> ndarray:
    """The array repeated like tiles."""

def diagonal(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Elements :math:`a_{i, i + k}` of two axes, as the last axis of a view."""

def tril(m: ndarray, k: int = 0) -> ndarray:
    """The lower triangle of matrices, zeros elsewhere."""

def triu(m: ndarray, k: int = 0) -> ndarray:
    """The upper triangle of matrices, zeros elsewhere."""

def roll(a: ndarray, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> ndarray:
    """The elements moved along axes; those that leave at one end enter at the other."""

def pad(array: ndarray, pad_width: int | Sequence[int] | Sequence[Sequence[int]], mode: Literal['constant', 'edge', 'reflect', 'symmetric', 'wrap'] = 'constant', constant_values: _Number | Sequence[_Number] | Sequence[Sequence[_Number]] = 0) -> ndarray:
    """An array made larger at its sides."""

def diag(v: ndarray, k: int = 0, device: _DeviceLike = None) -> ndarray:
    """A matrix with a given diagonal, or the diagonal of a matrix."""

def diagflat(v: ndarray, k: int = 0, device: _DeviceLike = None) -> ndarray:
    """A matrix whose diagonal is the flattened array."""

def split(ary: ndarray, indices_or_sections: float | Sequence[int] | numpy.ndarray | ndarray, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis, as views."""

def array_split(ary: ndarray, indices_or_sections: float | Sequence[int] | numpy.ndarray | ndarray, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis, as views; like :func:`chainerx.split`, but parts need not be equal."""

def vsplit(ary: ndarray, indices_or_sections: float | Sequence[int] | numpy.ndarray | ndarray) -> list[ndarray]:
    """Parts of an array along axis 0, as views; see :func:`chainerx.split`."""

def hsplit(ary: ndarray, indices_or_sections: float | Sequence[int] | numpy.ndarray | ndarray) -> list[ndarray]:
    """Parts of an array along axis 1 (axis 0 of one dimension), as views; see :func:`chainerx.split`."""

def dsplit(ary: ndarray, indices_or_sections: float | Sequence[int] | numpy.ndarray | ndarray) -> list[ndarray]:
    """Parts of an array along axis 2, as views; see :func:`chainerx.split`."""

def _meshgrid(xi: Sequence[ndarray], indexing: Literal['xy', 'ij'] = 'xy') -> list[ndarray]:
    """Coordinate arrays from coordinate vectors."""

def copyto(dst: ndarray, src: ndarray | _Number, casting: Literal['no', 'equiv', 'safe', 'same_kind', 'unsafe'] = 'no', where: ndarray | bool = True) -> None:
    """Writes an array or a number into another array, where a condition holds."""

# ---- indexing

def nonzero(a: ndarray) -> tuple[ndarray, ...]:
    """Indices of the nonzero elements."""

def argwhere(a: ndarray) -> ndarray:
    """Indices of the nonzero elements, one row for each of them."""

def flatnonzero(a: ndarray) -> ndarray:
    """Indices of the nonzero elements of the flattened array."""

def take(a: ndarray, indices: ndarray | ArrayLike, axis: int | None = None, mode: Literal['raise', 'wrap', 'clip'] | None = None) -> ndarray:
    """Elements at given indices along an axis."""

def take_along_axis(a: ndarray, indices: ndarray | ArrayLike, axis: int = -1) -> ndarray:
    """Elements at given indices along an axis, which differ from row to row."""

def _add_at(a: ndarray, indices: ndarray, b: ndarray, axis: int = 0) -> ndarray:
    """A copy of ``a`` with ``b`` added at given indices of an axis."""

# ---- attention

def scaled_dot_product_attention(q: ndarray, k: ndarray, v: ndarray, mask: ndarray | None = None, scale: float | None = None, causal: bool = False) -> ndarray:
    r"""Attention :math:`\mathrm{softmax}(s \, q k^\top + m) \, v` of queries to keys and values."""

# ---- convolution

def conv(x: ndarray, w: ndarray, b: ndarray | None = None, stride: _Ints = 1, pad: _Ints = 0, cover_all: bool = False, groups: int = 1, dilate: _Ints = 1) -> ndarray:
    """Convolution in any number of spatial dimensions (strictly, cross-correlation)."""

def conv_transpose(x: ndarray, w: ndarray, b: ndarray | None = None, stride: _Ints = 1, pad: _Ints = 0, outsize: _Ints | None = None, groups: int = 1, dilate: _Ints = 1) -> ndarray:
    """Transposed convolution: the map that gives the gradient of a convolution."""

# ---- pooling

def max_pool(x: ndarray, ksize: _Ints, stride: _Ints | None = None, pad: _Ints = 0, cover_all: bool = False) -> ndarray:
    """Maxima of windows in any number of spatial dimensions; padding is never a maximum."""

def average_pool(x: ndarray, ksize: _Ints, stride: _Ints | None = None, pad: _Ints = 0, pad_mode: Literal['ignore', 'zero'] = 'ignore') -> ndarray:
    """Averages of windows in any number of spatial dimensions."""

# ---- normalization

def batch_norm(x: ndarray, gamma: ndarray, beta: ndarray, running_mean: ndarray | None, running_var: ndarray | None, eps: float = 2e-05, decay: float = 0.9, axis: _Ints | None = None) -> ndarray:
    """Batch normalization by the mean and variance of the batch."""

def fixed_batch_norm(x: ndarray, gamma: ndarray, beta: ndarray, mean: ndarray, var: ndarray, eps: float = 2e-05, axis: _Ints | None = None) -> ndarray:
    """Batch normalization by a given mean and variance; see :func:`chainerx.batch_norm`."""

def layer_norm(x: ndarray, gamma: ndarray, beta: ndarray, eps: float = 1e-05) -> ndarray:
    """Normalization of each sample by its mean and variance over the last axes."""

def group_norm(x: ndarray, groups: int, gamma: ndarray, beta: ndarray, eps: float = 1e-05) -> ndarray:
    """Normalization of each sample by the mean and variance of groups of its channels."""

# ---- rnn

def lstm(c_prev: ndarray, x: ndarray) -> tuple[ndarray, ndarray]:
    """Cell of long short-term memory."""

def slstm(c_prev1: ndarray, c_prev2: ndarray, x1: ndarray, x2: ndarray) -> tuple[ndarray, ndarray]:
    """Cell of long short-term memory that merges two branches of a tree."""

def n_step_lstm(n_layers: int, hx: ndarray, cx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> tuple[ndarray, ndarray, list[ndarray]]:
    """Stacked networks of long short-term memory over sequences of various lengths."""

def n_step_bilstm(n_layers: int, hx: ndarray, cx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> tuple[ndarray, ndarray, list[ndarray]]:
    """Stacked bidirectional networks of long short-term memory over sequences of various lengths."""

def n_step_gru(n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> tuple[ndarray, list[ndarray]]:
    """Stacked networks of gated recurrent units over sequences of various lengths."""

def n_step_bigru(n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> tuple[ndarray, list[ndarray]]:
    """Stacked bidirectional networks of gated recurrent units over sequences of various lengths."""

def n_step_rnn(n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray], activation: str = 'tanh') -> tuple[ndarray, list[ndarray]]:
    """Stacked recurrent networks over sequences of various lengths."""

def n_step_birnn(n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray], activation: str = 'tanh') -> tuple[ndarray, list[ndarray]]:
    """Stacked bidirectional recurrent networks over sequences of various lengths."""

def tree_lstm(*inputs: ndarray) -> tuple[ndarray, ndarray]:
    """Cell of long short-term memory with any number of children."""

# ---- sorting

def sort(a: ndarray, axis: int | None = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """The elements in ascending order, those that are not-a-number last; or in descending order."""

def argsort(a: ndarray, axis: int | None = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """Positions that sort an array; equal elements keep their order."""

def searchsorted(a: ndarray, v: ndarray | _Number, side: Literal['left', 'right'] = 'left', sorter: ndarray | None = None) -> ndarray:
    """Indices at which elements have to be inserted into a sorted vector, so that it stays sorted."""

@overload
def unique(ar: ndarray, return_index: Literal[False] = False, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, equal_nan: bool = True) -> ndarray: ...
@overload
def unique(ar: ndarray, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, equal_nan: bool = True) -> tuple[ndarray, ...]: ...

def embed_id(x: ndarray, W: ndarray, ignore_label: int | None = None) -> ndarray:
    """Rows of a table by their numbers."""

# ---- random

def dropout(x: ndarray, ratio: float = 0.5, mask: ndarray | None = None) -> ndarray:
    """Elements set to zero at random."""

def _random_uniform(shape: _Ints, low: float, high: float, dtype: DTypeLike, device: _DeviceLike = None) -> ndarray:
    """Uniform numbers from the context's generator."""

def _random_normal(shape: _Ints, loc: float, scale: float, dtype: DTypeLike, device: _DeviceLike = None) -> ndarray:
    """Normal numbers from the context's generator."""

def _random_integers(shape: _Ints, low: int, high: int, device: _DeviceLike = None) -> ndarray:
    """Integers below ``high`` from the context's generator."""

# ---- optimizer

def _sgd_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. Scalars: lr."""

def _momentum_sgd_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. State: v. Scalars: lr, momentum."""

def _corrected_momentum_sgd_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. State: v. Scalars: lr, momentum."""

def _nesterov_ag_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. State: v. Scalars: lr, momentum."""

def _ada_grad_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. State: h. Scalars: lr, eps."""

def _ada_delta_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: msg, msdx. Scalars: rho, eps."""

def _rmsprop_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. State: ms. Scalars: lr, alpha, eps, eps_inside_sqrt."""

def _rmsprop_graves_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: n, g, delta. Scalars: lr, alpha, momentum, eps."""

def _smorms3_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: mem, g, g2. Scalars: lr, eps."""

def _adam_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: m, v. Scalars: alpha_t, 1 - beta1, 1 - beta2, eps, eta, weight_decay_rate, lower, upper."""

def _amsgrad_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: m, v, vhat. Scalars: alpha_t, 1 - beta1, 1 - beta2, eps, eta, weight_decay_rate, lower, upper."""

def _msvag_update(arrays: Sequence[ndarray], scalars: Sequence[float]) -> None:
    """Updates parameters in place. The arrays are the parameters, then their gradients, then each kind of state. States: m, v. Scalars: lr, 1 - beta, 1 - beta^t, rho, eta, weight_decay_rate."""

# ---- creation

def array(object: Any, dtype: DTypeLike | None = None, copy: bool = True, device: _DeviceLike = None) -> ndarray:
    """Makes an array from an array, a NumPy array, a number, or nested sequences of numbers."""

def asarray(a: Any, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Converts to an array, without copying an array, or a NumPy array whose memory can be shared."""

def ascontiguousarray(a: Any, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Converts to an array in C order of at least one dimension, without copying one that already is."""

def empty(shape: _Ints, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array whose elements are not set."""

def zeros(shape: _Ints, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array of zeros."""

def ones(shape: _Ints, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array of ones."""

def full(shape: _Ints, fill_value: _Number, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array filled with a value."""

def empty_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """Makes an array of the shape of another one, whose elements are not set."""

def zeros_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """Makes an array of zeros of the shape of another one."""

def ones_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """Makes an array of ones of the shape of another one."""

def full_like(a: ndarray, fill_value: _Number, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """Makes an array of the shape of another one, filled with a value."""

def arange(start: _Number, stop: _Number | None = None, step: _Number | None = None, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array of numbers from a start on and below an end, in equal steps."""

def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes an array of a given number of evenly spaced numbers."""

def identity(n: int, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Makes the identity matrix."""

def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = 'float64', device: _DeviceLike = None) -> ndarray:
    """Makes a matrix with ones on a diagonal, zeros elsewhere."""

def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = 'float32', device: _DeviceLike = None) -> ndarray:
    """Makes a matrix with ones on and below a diagonal, zeros elsewhere."""

def frombuffer(buffer: Any, dtype: DTypeLike | None = 'float32', count: int = -1, offset: int = 0, device: _DeviceLike = None) -> ndarray:
    """Makes a one-dimensional array from a copy of the bytes of a buffer."""

# ---- factorization

def _inverse_sqrt(a: ndarray) -> ndarray:
    """Inverse square roots of positive definite matrices."""
