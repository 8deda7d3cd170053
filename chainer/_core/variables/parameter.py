"""Parameters: variables that a link owns and an optimizer updates."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, initializers
from chainer._core.devices import layouts
from chainer._core.devices.array_types import get_array_types
from chainer._core.settings.half import FLOAT_KINDS
from chainer._core.variables.variable import Variable
from chainer.initializers import constant

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.optimizers.update_rule import UpdateRule
    from chainer._core.settings.types import InitializerSpec, ShapeSpec
    from chainer.backend import Device


class Parameter(Variable):
    """Variable to be optimized, registrable in a :class:`~chainer.Link`.

    The shape may be unknown at first; :meth:`initialize` then allocates the array. The gradient
    reads as NaN until the first backpropagation, which replaces it, or until a program sets it.

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
    #: What the array is a part of, if the parameter is divided between processes.
    _part: Any = None

    def __init__(
        self,
        initializer: InitializerSpec | None = None,
        shape: ShapeSpec | None = None,
        name: str | None = None,
        *,
        layout: Any = None,
    ) -> None:
        # What it is, the types of arrays tell only at run time.
        given: Any = initializer
        if given is None:
            given = constant.NaN()
        elif isinstance(initializer, numbers.Number):
            given = constant.Constant(given)

        is_array = isinstance(given, get_array_types())
        if shape is None:
            super().__init__(given if is_array else None, name=name, layout=layout)
            self._initial_device = self.device if is_array else backend.CpuDevice()
            self.initializer = given
            if not is_array:
                self._grad_initializer = constant.NaN(getattr(given, 'dtype', None))
            return

        if is_array:
            device = backend.get_device_from_array(given)
            given = constant.Constant(given)
        else:
            device = backend.CpuDevice()
        super().__init__(name=name, layout=layout)
        self.initializer = given
        self._initial_device = device
        self._grad_initializer = constant.NaN(getattr(given, 'dtype', None))
        self.initialize(shape)

    def __copy__(self) -> Self:
        return self._copy_to(object.__new__(type(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        args = (
            self.array,
            self._name,
            self._grad if self._array is None else self._get_known_grad(),
            self.initializer,
            self.update_rule,
            self.device,
        )
        names = ['_requires_grad', '_grad_initializer', '_grad_cleared', '_fresh_grad']
        if self._part is not None:  # which refuses it
            names.append('_part')
        return _recover_parameter, args, {name: getattr(self, name) for name in names}

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
        # Float64, as for `numpy.dtype(None)`, where the initializer does not say.
        return numpy.dtype(getattr(self.initializer, 'dtype', None))

    def _check_grad_known(self) -> None:
        if self._grad_initializer is not None and not self._grad_cleared:
            raise RuntimeError(
                'The parameter is not initialized, so its gradient is not known: '
                'call cleargrad() or initialize(shape) first'
            )

    def cleargrad(self) -> None:
        super().cleargrad()
        if self._array is None:
            self._grad_initializer = None
            self._grad_cleared = True

    def zerograd(self) -> None:
        super().zerograd()
        if self._array is None:
            self._grad_initializer = constant.Zero(getattr(self.initializer, 'dtype', None))

    def to_device(self, device: DeviceSpec) -> None:
        device = backend.get_device(device)
        if self._array is None:
            self._move_future_array(device)
        else:
            super().to_device(device)

    def _move_future_array(self, device: Device) -> None:
        if device != self._initial_device:
            self._part_from_copies()
            self._initial_device = device

    def to_chx(self) -> None:
        if self._array is None:
            if not chainerx.is_available():
                raise RuntimeError('ChainerX is not available.')
            if not isinstance(self._initial_device, backend.ChainerxDevice):
                self._move_future_array(
                    backend.ChainerxDevice.from_fallback_device(self._initial_device)
                )
        else:
            super().to_chx()

    def from_chx(self) -> None:
        if self._array is None:
            if isinstance(self._initial_device, backend.ChainerxDevice):
                self._move_future_array(self._initial_device.fallback_device)
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
            initializer = initializers.get_initializer(self.initializer)
            array = initializers.generate_array(initializer, shape, xp, device=device)
            grad = None
            is_fresh = isinstance(self._grad_initializer, constant.NaN)
            if self._grad_initializer is not None and not is_fresh:
                grad = initializers.generate_array(
                    self._grad_initializer, array.shape, xp, dtype=array.dtype, device=device
                )
        if self._layout is not None:
            array = xp.ascontiguousarray(layouts.transpose_array(array, None, self._layout))
        if self._layout is not None or array.dtype.kind not in FLOAT_KINDS:
            grad = None
            is_fresh = False
        self._set_array(array)
        self._set_grad(grad)
        self._fresh_grad = is_fresh

    def _initialize(self, shape: ShapeSpec) -> None:
        self.initialize(shape)

    def _initialize_like(self, src: Any) -> None:
        self.initialize(src.shape)

    def update(self) -> None:
        """Updates the array with the gradient by :attr:`update_rule`, if any.

        The rule also counts the updates of an uninitialized parameter without a gradient, which
        models may hold for links that they have not called yet.

        Raises:
            RuntimeError: If :meth:`cleargrad` has not been called on an uninitialized parameter.

        """
        if self.update_rule is not None:
            self.update_rule.update(self)


def _recover_parameter(
    data: Any,
    name: str | None,
    grad: Any,
    initializer: Any,
    update_rule: UpdateRule | None,
    device: Device | None = None,
    *_: Any,
) -> Parameter:
    param = object.__new__(Parameter)
    param._name = name
    param.initializer = initializer
    param._grad_initializer = constant.NaN(getattr(initializer, 'dtype', None))
    param.update_rule = update_rule
    param._initial_device = device
    if data is not None:
        param._set_array(data)
        if grad is not None:
            param._set_grad(grad)
    return param


_recover_parameter.__module__ = 'chainer.variable'  # Chainer 7 has the same name in its pickles
