"""Parameters: variables that a link owns and an optimizer updates."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, initializers
from chainer._core import layouts
from chainer._core.array_types import get_array_types
from chainer._core.variable import Variable
from chainer.initializers import constant

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.update_rule import UpdateRule
    from chainer.backend import Device
    from chainer.types import DeviceSpec, InitializerSpec, ShapeSpec


class Parameter(Variable):
    """Variable to be optimized, registrable in a :class:`~chainer.Link`.

    The shape may be unknown at first; :meth:`initialize` then allocates the array. The gradient
    starts as NaN, which reveals a forgotten :meth:`~chainer.Link.cleargrads`.

    Args:
        initializer: Initializer, scalar or array for the first value (``None``: NaN).
            If it is an array and ``shape`` is omitted, the parameter holds that very array.
        shape (int, tuple of int or None): Shape, or ``None`` to wait for :meth:`initialize`.
        name (str or None): Name of the parameter.
        layout: Memory layout of the array.

    Attributes:
        initializer: Initializer of the array, used by :meth:`initialize`.
        update_rule (~chainer.UpdateRule): Rule that updates this parameter, set by
            :meth:`chainer.Optimizer.setup`.

    .. admonition:: Example

        >>> p = chainer.Parameter(chainer.initializers.One(), (2, 3), name='p')
        >>> p.shape, bool(np.isnan(p.grad).all())
        ((2, 3), True)
        >>> q = chainer.Parameter(0.5)  # its shape is not known yet
        >>> q.is_initialized
        False
        >>> q.initialize(2)
        >>> q
        variable([0.5, 0.5])

    """

    __module__ = 'chainer.variable'

    initializer: Any = None
    update_rule: UpdateRule | None = None
    _grad_initializer: Any = None
    _initial_device: Any = None

    def __init__(
        self,
        initializer: InitializerSpec | None = None,
        shape: ShapeSpec | None = None,
        name: str | None = None,
        *,
        layout: Any = None,
    ) -> None:
        if initializer is None:
            initializer = constant.NaN()
        elif isinstance(initializer, numbers.Number):
            initializer = constant.Constant(initializer)

        is_array = isinstance(initializer, get_array_types())
        if shape is None:
            super().__init__(initializer if is_array else None, name=name, layout=layout)
            self._initial_device = backend.CpuDevice() if not is_array else self.device
            if not is_array:
                self.initializer = initializer
                self._grad_initializer = constant.NaN(getattr(initializer, 'dtype', None))
            return

        if is_array:
            device = backend.get_device_from_array(initializer)
            initializer = constant.Constant(initializer)
        else:
            device = backend.CpuDevice()
        super().__init__(name=name, layout=layout)
        self.initializer = initializer
        self._initial_device = device
        self._grad_initializer = constant.NaN(getattr(initializer, 'dtype', None))
        self.initialize(shape)

    def __copy__(self) -> Self:
        return self._copy_to(object.__new__(type(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        device = self.device if self._array is not None else self._initial_device
        return _unpickle_parameter, (
            self.array,
            self._name,
            self.grad,
            self._requires_grad,
            self.initializer,
            self._grad_initializer,
            self.update_rule,
            device,
        )

    @property
    def is_initialized(self) -> bool:
        """Whether the parameter has an array."""
        return self._array is not None

    @property
    def device(self) -> Device | Any:
        """Device of the array, or the one for its future allocation."""
        if self._array is None:
            return self._initial_device
        return backend.get_device_from_array(self._array)

    @property
    def dtype(self) -> numpy.dtype[Any] | Any:
        """Dtype of the array, or its future one."""
        if self._array is not None:
            return self._array.dtype
        dtype = getattr(self.initializer, 'dtype', None)
        if dtype is None:
            return None
        return numpy.dtype(dtype)

    @property
    def shape(self) -> tuple[int, ...] | Any:
        return None if self._array is None else super().shape

    def cleargrad(self) -> None:
        super().cleargrad()
        if self._array is None:
            self._grad_initializer = None

    def zerograd(self) -> None:
        super().zerograd()
        if self._array is None:
            self._grad_initializer = constant.Zero(self.dtype)

    def to_device(self, device: DeviceSpec) -> None:
        device = backend.get_device(device)
        if self._array is None:
            self._initial_device = device
        else:
            super().to_device(device)

    def to_chx(self) -> None:
        if self._array is None:
            if not chainerx.is_available():
                raise RuntimeError('ChainerX is not available.')
            if not isinstance(self._initial_device, backend.ChainerxDevice):
                self._initial_device = backend.ChainerxDevice.from_fallback_device(
                    self._initial_device
                )
        else:
            super().to_chx()

    def from_chx(self) -> None:
        if self._array is None:
            if isinstance(self._initial_device, backend.ChainerxDevice):
                self._initial_device = self._initial_device.fallback_device
        else:
            super().from_chx()

    def initialize(self, shape: ShapeSpec) -> None:
        """Allocates and fills the array (and the gradient) of an uninitialized parameter.

        Args:
            shape (int or tuple of int): Shape of the array.

        """
        device = self._initial_device or backend.CpuDevice()
        xp = device.xp
        with backend.using_device(device):
            array = initializers.generate_array(self.initializer, shape, xp, device=device)
            grad = None
            if self._grad_initializer is not None:
                grad = initializers.generate_array(
                    self._grad_initializer, array.shape, xp, dtype=array.dtype, device=device
                )
        self._set_array(array)
        if self._layout is not None:
            self._array = xp.ascontiguousarray(layouts.transpose_array(array, None, self._layout))
            grad = None
        if self._array.dtype.kind != 'f':
            grad = None
        self._set_grad(grad)

    def _initialize(self, shape: ShapeSpec) -> None:
        self.initialize(shape)

    def _initialize_like(self, src: Any) -> None:
        self.initialize(src.shape)

    def update(self) -> None:
        """Updates the array with the gradient by :attr:`update_rule`, if any.

        The rule also counts the updates of an uninitialized parameter without a gradient, which
        models may hold for links that they have not called yet.

        """
        if self.update_rule is not None:
            self.update_rule.update(self)


def _unpickle_parameter(
    array: Any,
    name: str | None,
    grad: Any,
    requires_grad: bool,
    initializer: Any,
    grad_initializer: Any,
    update_rule: UpdateRule | None,
    device: Device | None,
) -> Parameter:
    param = object.__new__(Parameter)
    param._requires_grad = requires_grad
    param._name = name
    param.initializer = initializer
    param._grad_initializer = grad_initializer
    param.update_rule = update_rule
    param._initial_device = device
    if array is not None:
        param._set_array(array)
        if grad is not None:
            param._set_grad(grad)
    return param


_unpickle_parameter.__module__ = 'chainer.variable'  # keeps private modules out of pickles
