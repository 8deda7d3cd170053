# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsFloat

import numpy
from numpy.typing import DTypeLike

_Number = SupportsFloat
_Operand = ndarray | _Number
_Axis = int | Sequence[int] | None
_Shape = int | Sequence[int]
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
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> numpy.ndarray: ...
    def __copy__(self) -> ndarray: ...
    def __deepcopy__(self, memo: Any = None) -> ndarray: ...
    def __dlpack__(self, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any) -> None: ...
    def _is_chained(self, backprop_id: BackpropId | None = None) -> bool: ...
    def all(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def any(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def argmax(self, axis: _Axis = None) -> ndarray: ...
    def argmin(self, axis: _Axis = None) -> ndarray: ...
    def as_grad_stopped(self, copy: bool = False, backprop_ids: Any = None) -> ndarray: ...
    def astype(self, dtype: DTypeLike, copy: bool = True) -> ndarray: ...
    def backward(self, backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, loss_scale: float | None = None, retain_grad: bool = False) -> None: ...
    def cleargrad(self, backprop_id: BackpropId | None = None) -> None: ...
    def clip(self, a_min: _Operand, a_max: _Operand) -> ndarray: ...
    def copy(self) -> ndarray: ...
    def cumprod(self, axis: _Axis = None) -> ndarray: ...
    def cumsum(self, axis: _Axis = None) -> ndarray: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray: ...
    def dot(self, b: ndarray) -> ndarray: ...
    def fill(self, value: _Operand) -> None: ...
    def flatten(self) -> ndarray: ...
    def get_grad(self, backprop_id: BackpropId | None = None) -> ndarray | None: ...
    def is_backprop_required(self, backprop_id: BackpropId | None = None) -> bool: ...
    def is_grad_required(self, backprop_id: BackpropId | None = None) -> bool: ...
    def item(self) -> bool | int | float: ...
    def max(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def min(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def ravel(self) -> ndarray: ...
    def repeat(self, repeats: _Shape, axis: _Axis = None) -> ndarray: ...
    def require_grad(self, backprop_id: BackpropId | None = None) -> ndarray: ...
    def set_grad(self, grad: ndarray | None, backprop_id: BackpropId | None = None) -> None: ...
    def squeeze(self, axis: _Axis = None) -> ndarray: ...
    def std(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def swapaxes(self, axis1: int, axis2: int) -> ndarray: ...
    def take(self, indices: Any, axis: _Axis = None, mode: str | None = None) -> ndarray: ...
    def to_device(self, device: _DeviceLike, index: int | None = None) -> ndarray: ...
    def tolist(self) -> Any: ...
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray: ...
    def var(self, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    def view(self) -> ndarray: ...

class ChainerxError(Exception): ...

class BackendError(ChainerxError): ...

class ContextError(ChainerxError): ...

class DeviceError(ChainerxError): ...

class DtypeError(ChainerxError): ...

class GradientCheckError(ChainerxError): ...

class GradientError(ChainerxError): ...

class DimensionError(ChainerxError, ValueError): ...

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
    def __exit__(self, *args: Any) -> None: ...
    def __init__(self, backprop_name: str, context: Context | None = None) -> None: ...

class Context:
    def __init__(self) -> None: ...
    def get_backend(self, backend_name: str) -> Backend: ...
    def get_device(self, *args: Any) -> Any: ...
    def make_backprop_id(self, backprop_name: str) -> BackpropId: ...
    def release_backprop_id(self, backprop_id: BackpropId) -> None: ...

class ContextScope:
    def __enter__(self) -> None: ...
    def __exit__(self, *args: Any) -> None: ...
    def __init__(self, context: Context) -> None: ...

class Device:
    @property
    def backend(self) -> Backend: ...
    @property
    def context(self) -> Context: ...
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    def synchronize(self) -> None: ...

class DeviceScope:
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __init__(self, device: Any, index: Any | None = None) -> None: ...
    @property
    def device(self) -> Device: ...

class ForceBackpropMode:
    def __enter__(self) -> None: ...
    def __exit__(self, *args: Any) -> None: ...
    def __init__(self, backprop_ids: Any | None = None) -> None: ...

class NoBackpropMode:
    def __enter__(self) -> None: ...
    def __exit__(self, *args: Any) -> None: ...
    def __init__(self, backprop_ids: Any | None = None) -> None: ...

class _Subgraph:
    def grad(self, indexes: Any, grad_outputs: Any) -> list: ...
    def numpy_grad(self, indexes: Any, grad_outputs: collections.abc.Sequence) -> tuple: ...
    def of_gradients(self, grad_outputs: Any, grad_inputs: Any) -> _Subgraph: ...

def _fromrawpointer(data_ptr: Any, shape: _Shape, dtype: DTypeLike, strides: Any, device: _DeviceLike, offset: int, base: Any) -> ndarray:
    """An array over memory at an address on a device, owned by ``base``."""

def _function_node_forward(function_node: Any, inputs: Sequence[ndarray], outputs: Any, input_indexes_to_retain: Any, output_indexes_to_retain: Any) -> list[ndarray]:
    """Connects outputs that a chainer.FunctionNode has computed to its inputs."""

def _get_num_threads() -> int: ...

def _kernels(arg0: str) -> list: ...

def _live_array_count() -> int: ...

def _numpy_gradients(grads: collections.abc.Sequence) -> list: ...

def _numpy_outputs(inputs: Any, outputs: Any) -> tuple: ...

def _numpy_views(arrays: Any, requires_grad: Any) -> Any: ...

def _ops() -> list: ...

def _random_seed(seed: int) -> None:
    """Seeds the context's generator."""

def _rebuild_array(values: Any, device: _DeviceLike) -> ndarray:
    """Makes an array from its pickled state."""

def _set_num_threads(arg0: int) -> None: ...

def _to_cupy(array: ndarray) -> Any:
    """The array as cupy.ndarray; it must live on a CUDA device."""

def _unchain_backward(array: ndarray) -> ndarray:
    """Cuts every edge from the array back to the leaves, in all graphs."""

anygraph: AnyGraph

def backward(outputs: Any, backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, loss_scale: float | None = None, retain_grad: bool = False) -> None:
    """Adds gradients of the outputs to what they were computed from."""

def check_backward(func: Callable[..., Any], inputs: Sequence[ndarray], grad_outputs: Any, eps: Sequence[ndarray], atol: float = 1e-05, rtol: float = 0.0001, backprop_id: BackpropId | None = None) -> None:
    """Compares gradients with central differences; raises GradientCheckError."""

def check_double_backward(func: Callable[..., Any], inputs: Sequence[ndarray], grad_outputs: Any, grad_grad_inputs: Sequence[ndarray], eps: Sequence[ndarray], atol: float = 1e-05, rtol: float = 0.0001, backprop_id: BackpropId | None = None) -> None:
    """Compares second gradients with central differences; raises GradientCheckError."""

def from_dlpack(x: Any, device: _DeviceLike = None, copy: bool | None = None) -> ndarray:
    """An array that shares the memory of an object with __dlpack__, such as one of NumPy or PyTorch. Read-only memory is
    copied unless ``copy`` is false."""

def get_backend(backend_name: str) -> Backend: ...

def get_default_context() -> Context: ...

def get_default_device() -> Device: ...

def get_device(device: Any | None = None, index: Any | None = None) -> Device: ...

def get_global_default_context() -> Context: ...

def grad(outputs: Any, inputs: Sequence[ndarray], backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, set_grad: bool = False, retain_grad: bool = False, grad_outputs: Any = (), loss_scale: float | None = None) -> list[ndarray]:
    """Gradients of the outputs with respect to the inputs."""

def is_backprop_required(context: Any | None = None) -> bool: ...

def set_default_context(context: Context) -> None: ...

def set_default_device(device: Any) -> None: ...

def set_global_default_context(context: Context) -> None: ...

def to_numpy(array: ndarray, copy: bool = True) -> numpy.ndarray:
    """The array as numpy.ndarray; without a copy it shares memory. An array of a graph is refused."""

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
    def qr(a: ndarray, mode: str = 'reduced') -> Any: ...
    @staticmethod
    def svd(a: ndarray, full_matrices: bool = True, compute_uv: bool = True) -> Any: ...
    @staticmethod
    def cholesky(a: ndarray) -> ndarray: ...
    @staticmethod
    def eigh(a: ndarray, UPLO: str = 'L') -> tuple[ndarray, ndarray]: ...
    @staticmethod
    def eigvalsh(a: ndarray, UPLO: str = 'L') -> ndarray: ...
    @staticmethod
    def slogdet(a: ndarray) -> tuple[ndarray, ndarray]: ...
    @staticmethod
    def norm(x: _Operand, ord: float | str | None = None, axis: _Axis = None, keepdims: bool = False) -> ndarray: ...
    @staticmethod
    def det(a: ndarray) -> ndarray: ...

# ---- arithmetic

def add(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise sum. Of booleans: logical or."""

def subtract(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise difference."""

def multiply(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise product. Of booleans: logical and."""

def divide(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise quotient, always in floating point."""

def floor_divide(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise quotient rounded towards minus infinity. Stops gradients."""

def remainder(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise remainder with the sign of the divisor."""

def fmod(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise remainder with the sign of the dividend."""

def power(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise power :math:`x_1^{x_2}`."""

def negative(x: _Operand) -> ndarray:
    """Elementwise negation."""

def reciprocal(x: _Operand) -> ndarray:
    """Elementwise :math:`1 / x`."""

def maximum(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise maximum. The gradient is shared where the values are equal."""

def minimum(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise minimum. The gradient is shared where the values are equal."""

def where(condition: _Operand, x: _Operand, y: _Operand) -> ndarray:
    """Elements of ``x`` where the condition holds, of ``y`` elsewhere."""

def _clip(x: _Operand, a_min: _Operand, a_max: _Operand) -> ndarray:
    """Elementwise limits on both sides."""

def clip(a: ndarray, a_min: _Operand, a_max: _Operand) -> ndarray:
    """Elementwise limits on one side or both."""

# ---- comparison

def equal(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise equality."""

def not_equal(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise inequality."""

def greater(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise ``x1 > x2``."""

def greater_equal(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise ``x1 >= x2``."""

def less(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise ``x1 < x2``."""

def less_equal(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise ``x1 <= x2``."""

def logical_and(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise logical and."""

def logical_or(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise logical or."""

def logical_xor(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise exclusive or of truth values."""

def logical_not(x: _Operand) -> ndarray:
    """Elementwise logical negation."""

def isnan(x: _Operand) -> ndarray:
    """True where an element is not a number."""

def isinf(x: _Operand) -> ndarray:
    """True where an element is an infinity."""

def isfinite(x: _Operand) -> ndarray:
    """True where an element is neither an infinity nor not a number."""

def bitwise_and(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise bitwise and of integers or booleans."""

def bitwise_or(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise bitwise or of integers or booleans."""

def bitwise_xor(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise bitwise exclusive or of integers or booleans."""

def invert(x: _Operand) -> ndarray:
    """Elementwise bitwise negation of integers, logical negation of booleans."""

def left_shift(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise shift of bits to the left."""

def right_shift(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise arithmetic shift of bits to the right."""

# ---- explog

def exp(x: _Operand) -> ndarray:
    """Elementwise exponential."""

def exp2(x: _Operand) -> ndarray:
    """Elementwise power of two."""

def expm1(x: _Operand) -> ndarray:
    """Elementwise exponential minus one, precise near zero."""

def log(x: _Operand) -> ndarray:
    """Elementwise natural logarithm."""

def log2(x: _Operand) -> ndarray:
    """Elementwise logarithm to the base 2."""

def log10(x: _Operand) -> ndarray:
    """Elementwise logarithm to the base 10."""

def log1p(x: _Operand) -> ndarray:
    """Elementwise logarithm of one plus the argument, precise near zero."""

def sqrt(x: _Operand) -> ndarray:
    """Elementwise square root."""

def erf(x: _Operand) -> ndarray:
    """Elementwise Gauss error function."""

def square(x: _Operand) -> ndarray:
    """Elementwise square."""

def absolute(x: _Operand) -> ndarray:
    """Elementwise absolute value."""

def fabs(x: _Operand) -> ndarray:
    """Elementwise absolute value in floating point."""

def sign(x: _Operand) -> ndarray:
    """Elementwise sign: -1, 0 or 1. Stops gradients."""

def floor(x: _Operand) -> ndarray:
    """Elementwise rounding towards minus infinity. Stops gradients."""

def ceil(x: _Operand) -> ndarray:
    """Elementwise rounding towards plus infinity. Stops gradients."""

def trunc(x: _Operand) -> ndarray:
    """Elementwise rounding towards zero. Stops gradients."""

def rint(x: _Operand) -> ndarray:
    """Elementwise rounding to the nearest integer, halves to even. Stops gradients."""

def copysign(x1: _Operand, x2: _Operand) -> ndarray:
    """The magnitude of ``x1`` with the sign of ``x2``, elementwise."""

# ---- trigonometric

def sin(x: _Operand) -> ndarray:
    """Elementwise sine."""

def cos(x: _Operand) -> ndarray:
    """Elementwise cosine."""

def tan(x: _Operand) -> ndarray:
    """Elementwise tangent."""

def arcsin(x: _Operand) -> ndarray:
    """Elementwise inverse sine."""

def arccos(x: _Operand) -> ndarray:
    """Elementwise inverse cosine."""

def arctan(x: _Operand) -> ndarray:
    """Elementwise inverse tangent."""

def arctan2(x1: _Operand, x2: _Operand) -> ndarray:
    """The angle of the point :math:`(x_2, x_1)`, elementwise."""

def sinh(x: _Operand) -> ndarray:
    """Elementwise hyperbolic sine."""

def cosh(x: _Operand) -> ndarray:
    """Elementwise hyperbolic cosine."""

def tanh(x: _Operand) -> ndarray:
    """Elementwise hyperbolic tangent."""

def arcsinh(x: _Operand) -> ndarray:
    """Elementwise inverse hyperbolic sine."""

def arccosh(x: _Operand) -> ndarray:
    """Elementwise inverse hyperbolic cosine."""

# ---- special

def erfc(x: _Operand) -> ndarray:
    """One minus the error function, precise where that is small, elementwise."""

def erfcx(x: _Operand) -> ndarray:
    r"""Scaled complementary error function :math:`e^{x^2} \mathrm{erfc}(x)`, elementwise."""

def erfinv(x: _Operand) -> ndarray:
    """Inverse of the error function, elementwise."""

def erfcinv(x: _Operand) -> ndarray:
    """Inverse of the complementary error function, elementwise."""

def ndtr(x: _Operand) -> ndarray:
    """Distribution function of the standard normal distribution, elementwise."""

def log_ndtr(x: _Operand) -> ndarray:
    """Logarithm of the standard normal distribution function, elementwise."""

def ndtri(x: _Operand) -> ndarray:
    """Inverse of the standard normal distribution function, elementwise."""

def lgamma(x: _Operand) -> ndarray:
    """Logarithm of the absolute value of the gamma function, elementwise."""

def digamma(x: _Operand) -> ndarray:
    """Derivative of the logarithm of the gamma function, elementwise."""

def zeta(x: _Operand, q: ndarray) -> ndarray:
    r"""Hurwitz's zeta function :math:`\sum_k (q + k)^{-x}`, elementwise. Only ``q`` has a gradient."""

# ---- activation

def relu(x: _Operand) -> ndarray:
    r"""Rectified linear unit, :math:`\max(0, x)`."""

def _relu_grad(gy: ndarray, y: _Operand) -> ndarray:
    """``gy`` where the output of relu is positive, zero elsewhere."""

def sigmoid(x: _Operand) -> ndarray:
    """Elementwise logistic function :math:`1 / (1 + e^{-x})`."""

def _sigmoid_grad(gy: ndarray, y: _Operand) -> ndarray:
    """``gy * y * (1 - y)``."""

def leaky_relu(x: _Operand, slope: float = 0.2) -> ndarray:
    """``x`` where not negative, ``slope * x`` elsewhere."""

def elu(x: _Operand, alpha: float = 1.0) -> ndarray:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere."""

def softplus(x: _Operand, beta: float = 1.0) -> ndarray:
    r"""Smooth rectifier :math:`\log(1 + e^{\beta x}) / \beta`."""

def clipped_relu(x: _Operand, z: float = 20.0) -> ndarray:
    r"""Rectified linear unit with an upper limit, :math:`\min(\max(0, x), z)`."""

def silu(x: _Operand) -> ndarray:
    """Sigmoid linear unit, :math:`x / (1 + e^{-x})`."""

def gelu(x: _Operand) -> ndarray:
    r"""Gaussian error linear unit :math:`x \Phi(x)`."""

def crelu(x: _Operand, axis: _Axis = 1) -> ndarray:
    """relu of ``x`` and of ``-x``, joined along an axis."""

# ---- reduction

def sum(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Sum of elements over axes. Integers are summed in int64."""

def nansum(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Sum over axes with elements that are not a number taken as zero."""

def prod(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Product of elements over axes."""

def mean(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Arithmetic mean over axes."""

def var(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Variance over axes, without bias correction."""

def std(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Standard deviation over axes, without bias correction."""

def amax(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Largest element over axes. All elements that attain it share its gradient in full."""

def amin(a: ndarray, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Smallest element over axes. All elements that attain it share its gradient in full."""

def all(x: _Operand, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Whether all elements over axes are nonzero."""

def any(x: _Operand, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Whether any element over axes is nonzero."""

def argmax(a: ndarray, axis: _Axis = None) -> ndarray:
    """Index of the first largest element along an axis, or in the flattened array."""

def argmin(a: ndarray, axis: _Axis = None) -> ndarray:
    """Index of the first smallest element along an axis, or in the flattened array."""

def nanargmax(a: ndarray, axis: _Axis = None) -> ndarray:
    """Like argmax, ignoring elements that are not a number."""

def nanargmin(a: ndarray, axis: _Axis = None) -> ndarray:
    """Like argmin, ignoring elements that are not a number."""

def count_nonzero(a: ndarray, axis: _Axis = None) -> ndarray:
    """Number of nonzero elements over axes."""

def cumsum(a: ndarray, axis: _Axis = None) -> ndarray:
    """Cumulative sum along an axis, or of the flattened array."""

def cumprod(a: ndarray, axis: _Axis = None) -> ndarray:
    """Cumulative product along an axis, or of the flattened array."""

def logsumexp(x: _Operand, axis: _Axis = None, keepdims: bool = False) -> ndarray:
    """Logarithm of the sum of exponentials over axes, without overflow."""

def softmax(x: _Operand, axis: _Axis = None) -> ndarray:
    """Exponentials normalized to the sum one along axis 1 or the axes given."""

def log_softmax(x: _Operand, axis: _Axis = None) -> ndarray:
    """Logarithm of the softmax along axis 1 or the axes given."""

# ---- linalg

def dot(a: ndarray, b: ndarray) -> ndarray:
    """Sum product over the last axis of ``a`` and the last but one of ``b``."""

def matmul(a: ndarray, b: ndarray) -> ndarray:
    """Matrix product, broadcasting leading dimensions."""

def inner(a: ndarray, b: ndarray) -> ndarray:
    """Sum product over the last axes."""

def vdot(a: ndarray, b: ndarray) -> ndarray:
    """Sum product over all elements."""

def trace(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Sum over a diagonal of two axes."""

def outer(a: ndarray, b: ndarray) -> ndarray:
    """Matrix of the products of elements of two flattened arrays."""

def kron(a: ndarray, b: ndarray) -> ndarray:
    """Kronecker product: blocks of ``b``, scaled by the elements of ``a``."""

def linear(x: _Operand, W: ndarray, b: ndarray | None = None, n_batch_axis: int = 1) -> ndarray:
    """Affine map :math:`x W^T + b`. Axes of ``x`` after the first ``n_batch_axis`` are flattened."""

def tensordot(a: ndarray, b: ndarray, axes: Any = 2) -> ndarray:
    """Sum product over the last ``axes`` axes of ``a`` and the first of ``b``, or over a pair of (lists of) axes."""

def einsum(*operands: Any, optimize: bool = True) -> ndarray:
    """Einstein summation: subscripts and arrays, or arrays and lists of labels by turns, as NumPy's."""

# ---- loss

def absolute_error(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise :math:`|x_1 - x_2|`."""

def squared_error(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise :math:`(x_1 - x_2)^2`."""

def gaussian_kl_divergence(mean: ndarray, ln_var: ndarray) -> ndarray:
    """Elementwise Kullback-Leibler divergence of a Gaussian from the standard one."""

def huber_loss(x1: _Operand, x2: _Operand, delta: float) -> ndarray:
    """Elementwise: quadratic within ``delta``, linear beyond it."""

def sigmoid_cross_entropy(x1: _Operand, x2: _Operand) -> ndarray:
    """Elementwise cross entropy of sigmoid of ``x1`` with labels 0 and 1; negative labels give zero."""

def softmax_cross_entropy(x1: _Operand, x2: _Operand, ignore_label: Any = -1, class_weight: ndarray | None = None, reduce: str = 'no', normalize: bool = True) -> ndarray:
    """Cross entropy of softmax of ``x1`` (N, C, ...) with the classes ``x2`` (N, ...); that of ignored ones is zero. ``reduce``: ``'no'``, ``'sum'``, or ``'mean'`` over what is not ignored, or over N if not ``normalize``."""

def hinge(x1: _Operand, x2: _Operand, norm: Any = 1.0) -> ndarray:
    """Hinge loss of scores (N, C) and classes (N,), with the L1 or L2 norm."""

def accuracy(y: _Operand, t: ndarray, ignore_label: Any = None) -> ndarray:
    """Fraction of rows of ``y`` whose largest score is at the class in ``t``."""

# ---- manipulation

def reshape(a: ndarray, newshape: _Shape) -> ndarray:
    """The same elements in another shape. One length may be -1."""

def ravel(a: ndarray) -> ndarray:
    """The elements as one dimension."""

def transpose(a: ndarray, axes: _Axis = None) -> ndarray:
    """Axes in another order; reversed by default."""

def squeeze(a: ndarray, axis: _Axis = None) -> ndarray:
    """Without axes of length one."""

def expand_dims(a: ndarray, axis: _Axis) -> ndarray:
    """With a new axis of length one."""

def swapaxes(a: ndarray, axis1: int, axis2: int) -> ndarray:
    """With two axes interchanged."""

def moveaxis(a: ndarray, source: _Shape, destination: _Shape) -> ndarray:
    """With axes moved to other places."""

def rollaxis(a: ndarray, axis: _Axis, start: _Operand = 0) -> ndarray:
    """With an axis moved backwards to before another one."""

def flip(m: ndarray, axis: _Axis = None) -> ndarray:
    """Elements in reverse order along axes."""

def fliplr(m: ndarray) -> ndarray:
    """Elements in reverse order along axis 1."""

def flipud(m: ndarray) -> ndarray:
    """Elements in reverse order along axis 0."""

def broadcast_to(array: ndarray, shape: _Shape) -> ndarray:
    """A read-only view repeated to a larger shape."""

def copy(a: ndarray) -> ndarray:
    """A copy of the array."""

def concatenate(arrays: Sequence[ndarray], axis: _Axis = 0) -> ndarray:
    """Arrays joined along an axis."""

def stack(arrays: Sequence[ndarray], axis: _Axis = 0) -> ndarray:
    """Arrays joined along a new axis."""

def hstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 1 (axis 0 if they have one dimension)."""

def vstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 0, as rows if they have one dimension."""

def dstack(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays joined along axis 2."""

def atleast_2d(a: ndarray) -> ndarray:
    """As an array of two or more dimensions."""

def atleast_3d(a: ndarray) -> ndarray:
    """As an array of three or more dimensions."""

def repeat(a: ndarray, repeats: _Shape, axis: _Axis = None) -> ndarray:
    """Elements repeated along an axis."""

def tile(A: ndarray, reps: _Shape) -> ndarray:
    """The array repeated as tiles."""

def diagonal(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A diagonal of two axes, as the last axis."""

def tril(m: ndarray, k: int = 0) -> ndarray:
    """The lower triangle, zeros elsewhere."""

def triu(m: ndarray, k: int = 0) -> ndarray:
    """The upper triangle, zeros elsewhere."""

def roll(a: ndarray, shift: _Shape, axis: _Axis = None) -> ndarray:
    """Elements moved along axes, re-entering at the other end."""

def diag(v: ndarray, k: int = 0, device: _DeviceLike = None) -> ndarray:
    """A matrix with a diagonal, or the diagonal of a matrix."""

def diagflat(v: ndarray, k: int = 0, device: _DeviceLike = None) -> ndarray:
    """A matrix whose diagonal is the flattened array."""

def split(ary: ndarray, indices_or_sections: _Shape, axis: _Axis = 0) -> list[ndarray]:
    """Parts along an axis: a number of equal ones, or between indices."""

def vsplit(ary: ndarray, indices_or_sections: _Shape) -> list[ndarray]:
    """Parts along axis 0."""

def hsplit(ary: ndarray, indices_or_sections: _Shape) -> list[ndarray]:
    """Parts along axis 1 (axis 0 of one dimension)."""

def dsplit(ary: ndarray, indices_or_sections: _Shape) -> list[ndarray]:
    """Parts along axis 2."""

def _meshgrid(xi: Sequence[ndarray], indexing: str = 'xy') -> list[ndarray]:
    """Coordinate arrays from coordinate vectors."""

def copyto(dst: ndarray, src: _Operand, casting: str = 'no', where: _Operand = True) -> None:
    """Writes ``src``, broadcast, into ``dst`` where a condition holds."""

# ---- indexing

def nonzero(a: ndarray) -> tuple[ndarray, ...]:
    """Indices of the nonzero elements: a tuple of one array for each dimension."""

def take(a: ndarray, indices: Any, axis: _Axis = None, mode: str | None = None) -> ndarray:
    """Elements along an axis at given indices. ``mode``: 'raise', 'wrap' or 'clip' for indices out of range."""

def _add_at(a: ndarray, indices: Any, b: ndarray) -> ndarray:
    """A copy of the vector ``a`` with ``b`` added at given indices."""

# ---- attention

def scaled_dot_product_attention(q: ndarray, k: int, v: ndarray, mask: ndarray | None = None, scale: float | None = None, causal: bool = False) -> ndarray:
    r"""Attention :math:`\mathrm{softmax}(s q k^\top + m) v` of ``q`` (..., L, E) to ``k`` (..., S, E) and ``v`` (..., S, D). ``mask``: booleans, true where a query attends to a key, or numbers that are added."""

# ---- convolution

def conv(x: _Operand, w: ndarray, b: ndarray | None = None, stride: _Shape | None = 1, pad: _Shape = 0, cover_all: bool = False, groups: int = 1, dilate: _Shape = 1) -> ndarray:
    """Convolution of ``x`` (N, C, ...) with ``w`` (O, C / groups, ...) in any number of spatial dimensions."""

def conv_transpose(x: _Operand, w: ndarray, b: ndarray | None = None, stride: _Shape | None = 1, pad: _Shape = 0, outsize: _Shape | None = None, groups: int = 1, dilate: _Shape = 1) -> ndarray:
    """Transposed convolution of ``x`` (N, C, ...) with ``w`` (C, O / groups, ...): the adjoint of conv."""

# ---- pooling

def max_pool(x: _Operand, ksize: _Shape, stride: _Shape | None = None, pad: _Shape = 0, cover_all: bool = False) -> ndarray:
    """Maxima of windows of ``x`` (N, C, ...). Padding never is a maximum."""

def average_pool(x: _Operand, ksize: _Shape, stride: _Shape | None = None, pad: _Shape = 0, pad_mode: str = 'ignore') -> ndarray:
    """Averages of windows of ``x`` (N, C, ...). ``pad_mode``: 'ignore' leaves padding out, 'zero' counts it as 0."""

# ---- normalization

def batch_norm(x: _Operand, gamma: ndarray, beta: float, running_mean: ndarray, running_var: ndarray, eps: float = 2e-05, decay: float = 0.9, axis: _Axis = None) -> ndarray:
    """Normalization of channels by the statistics of the batch. Running statistics (or None) are updated in place."""

def fixed_batch_norm(x: _Operand, gamma: ndarray, beta: float, mean: ndarray, var: ndarray, eps: float = 2e-05, axis: _Axis = None) -> ndarray:
    """Normalization of channels by given statistics."""

def layer_norm(x: _Operand, gamma: ndarray, beta: float, eps: float = 1e-05) -> ndarray:
    """Normalization of each sample over the last axes, those of ``gamma``."""

def group_norm(x: _Operand, groups: int, gamma: ndarray, beta: float, eps: float = 1e-05) -> ndarray:
    """Normalization of each sample over groups of channels of ``x`` (N, C, ...)."""

# ---- rnn

def lstm(c_prev: ndarray, x: _Operand) -> tuple[ndarray, ...]:
    """LSTM cell: new cell states and hidden states from ``c_prev`` (B, U) and gates ``x`` (B, 4 U)."""

def slstm(c_prev1: ndarray, c_prev2: ndarray, x1: _Operand, x2: _Operand) -> tuple[ndarray, ...]:
    """LSTM cell that merges two branches."""

def n_step_lstm(n_layers: int, hx: ndarray, cx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray) -> Any:
    """Stacked LSTM over sequences: ``hy``, ``cy`` and the list of outputs."""

def n_step_bilstm(n_layers: int, hx: ndarray, cx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray) -> Any:
    """Stacked bidirectional LSTM over sequences: ``hy``, ``cy`` and the list of outputs."""

def n_step_gru(n_layers: int, hx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray) -> Any:
    """Stacked GRU over sequences: ``hy`` and the list of outputs."""

def n_step_bigru(n_layers: int, hx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray) -> Any:
    """Stacked bidirectional GRU over sequences: ``hy`` and the list of outputs."""

def n_step_rnn(n_layers: int, hx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray, activation: str = 'tanh') -> Any:
    """Stacked recurrent network over sequences: ``hy`` and the list of outputs."""

def n_step_birnn(n_layers: int, hx: ndarray, ws: ndarray, bs: ndarray, xs: ndarray, activation: str = 'tanh') -> Any:
    """Stacked bidirectional recurrent network over sequences: ``hy`` and the list of outputs."""

def tree_lstm(*inputs: ndarray) -> tuple[ndarray, ...]:
    """Tree-LSTM cell: cell states of the children, then gates."""

# ---- sorting

def sort(a: ndarray, axis: _Axis = -1) -> ndarray:
    """Elements in ascending order along an axis, or of the flattened array."""

def argsort(a: ndarray, axis: _Axis = -1) -> ndarray:
    """Positions that sort an array along an axis, stably, or the flattened array."""

def embed_id(x: _Operand, W: ndarray, ignore_label: Any = None) -> ndarray:
    """Rows of ``W`` (V, D) by number. ``ignore_label`` stands for zeros."""

# ---- random

def dropout(x: _Operand, ratio: float = 0.5, mask: ndarray | None = None) -> ndarray:
    """Zero at random with probability ``ratio``, else ``x / (1 - ratio)``; or ``x * mask`` if a mask is given."""

def _random_uniform(shape: _Shape, low: float, high: float, dtype: DTypeLike, device: _DeviceLike = None) -> ndarray:
    """Uniform numbers from the context's generator."""

def _random_normal(shape: _Shape, loc: float, scale: float, dtype: DTypeLike, device: _DeviceLike = None) -> ndarray:
    """Normal numbers from the context's generator."""

def _random_integers(shape: _Shape, low: int, high: int, device: _DeviceLike = None) -> ndarray:
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
    """An array from an array, NumPy array, number or nested lists."""

def asarray(a: ndarray, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Like array, without a copy where possible."""

def ascontiguousarray(a: ndarray, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array in C order, without a copy if it is already."""

def empty(shape: _Shape, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array whose elements are not set."""

def zeros(shape: _Shape, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array of zeros."""

def ones(shape: _Shape, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array of ones."""

def full(shape: _Shape, fill_value: _Operand, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array filled with a value."""

def empty_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """An array like another one whose elements are not set."""

def zeros_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """An array of zeros like another one."""

def ones_like(a: ndarray, device: _DeviceLike = None, dtype: DTypeLike | None = None) -> ndarray:
    """An array of ones like another one."""

def full_like(a: ndarray, fill_value: _Operand, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """An array like another one, filled with a value."""

def arange(start: _Operand, stop: _Operand | None = None, step: _Operand | None = None, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """Evenly spaced numbers below an end."""

def linspace(start: _Operand, stop: _Operand, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """A number of evenly spaced numbers."""

def identity(n: int, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    """The identity matrix."""

def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = 'float64', device: _DeviceLike = None) -> ndarray:
    """A matrix with ones on a diagonal."""

def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = 'float32', device: _DeviceLike = None) -> ndarray:
    """A matrix with ones on and below a diagonal."""

def frombuffer(buffer: Any, dtype: DTypeLike = 'float32', count: int = -1, offset: int = 0, device: _DeviceLike = None) -> ndarray:
    """An array from the bytes of a buffer."""
