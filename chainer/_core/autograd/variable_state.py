"""The array of a variable, and how it is replaced and described."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.autograd.variable_gradient import VariableGradient, check_array
from chainer._core.devices import layouts
from chainer._core.settings.half import FLOAT_KINDS

if TYPE_CHECKING:
    import numpy

    from chainer._core.settings.types import AnyArray, NdArray, Xp
    from chainer.backend import Device

_chx_ndarray = chainerx.ndarray


class VariableState(VariableGradient):
    """Array and gradient of a variable: all that backpropagation reads and writes.

    This class and its bases, :class:`VariableGradient` and :class:`BaseVariable`, declare the
    fields of a variable. The classes above them, in ``chainer/_core/variables``, add methods; only
    :class:`chainer.Parameter` has fields of its own, for an array that it lacks as yet.
    """

    _chainerx_array_cache: Any = None
    # Copies (`copy.copy`) and their original by id: they have one array, now and later.
    _sharing: weakref.WeakValueDictionary[int, VariableState] | None = None

    @property
    def _has_chainerx_array(self) -> bool:
        return isinstance(self._array, _chx_ndarray)

    @property
    def xp(self) -> Xp:
        """Array module (:mod:`numpy`, :mod:`cupy` or :mod:`chainerx`) of the array."""
        return self.device.xp

    @property
    def device(self) -> Device | Any:
        """Device the array is on; without an array that of NumPy."""
        return backend.get_device_from_array(self._array)

    @property
    def name(self) -> str | None:
        """Name, for computational graphs and messages, or ``None``; assignable."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name
        if self._node is not None:
            self._node._name = name

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is computed for this variable."""
        return self._requires_grad

    @property
    def layout(self) -> Any:
        """Memory layout of :mod:`chainer.memory_layouts`, or ``None`` for the usual one."""
        return self._layout

    @property
    def raw_array(self) -> AnyArray:
        """Array in its order in memory, for any layout."""
        return self._array

    @property
    def array(self) -> AnyArray:
        """Underlying array; on ChainerX a view without the graph."""
        self._check_no_layout()
        array = self._array
        if isinstance(array, _chx_ndarray) and self._requires_grad:
            if self._chainerx_array_cache is None:
                self._chainerx_array_cache = array.as_grad_stopped()
            return self._chainerx_array_cache
        return array

    @array.setter
    def array(self, array: NdArray | None) -> None:
        self._check_no_layout()
        check_array(array)
        old = self._array
        grad = self._get_known_grad() if isinstance(old, _chx_ndarray) else None
        self._set_array(array)
        # ChainerX keeps a gradient with its array, and Chainer with the variable.
        if (
            grad is not None
            and isinstance(array, _chx_ndarray)
            and array.device is old.device
            and array.shape == old.shape
            and array.dtype == old.dtype
        ):
            self._set_grad(grad)

    @property
    def data(self) -> AnyArray:
        """Same as :attr:`array`; prefer that name, which ``numpy.ndarray.data`` does not share."""
        return self.array

    @data.setter
    def data(self, array: NdArray | None) -> None:
        self.array = array

    @property
    def chx_array(self) -> chainerx.ndarray:
        """ChainerX array with its graph.

        Raises:
            ValueError: If the variable is not on a ChainerX device.

        """
        if not self._has_chainerx_array:
            raise ValueError(
                'chx_array is not available for a variable of '
                f'{type(self._array).__module__}.{type(self._array).__name__}'
            )
        return self._array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array, in the usual order of the axes for any layout."""
        if self._layout is not None:
            return layouts.transpose_shape(self._array.shape, self._layout, None)
        return self._array.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions of the array."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of elements of the array."""
        return self._array.size

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Data type of the array."""
        return self._array.dtype

    def __len__(self) -> int:
        return len(self._array)

    def item(self) -> bool | int | float | complex:
        """Converts a variable of one element to a Python scalar.

        Returns:
            bool, int, float or complex: The element.

        Raises:
            ValueError: If there is not exactly one element.

        """
        return self.array.item()

    def zerograd(self) -> None:
        """Fills the gradient with zeros.

        .. deprecated:: v1.15
            Use :meth:`cleargrad`, which is faster.
        """
        warnings.warn(
            'Variable.zerograd is deprecated. Use Variable.cleargrad instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        array = self.array
        if array is None:
            return
        with backend.using_device(backend.get_device_from_array(array)):
            self.grad = backend.get_array_module(array).zeros_like(array)

    def summary(self) -> str:
        """Text naming the variable without its values.

        Returns:
            str: Text with the name of the variable, or with its address if it has no name.

        """
        return f'<variable {self._name}>' if self._name else f'<variable at 0x{id(self):x}>'

    def _check_no_layout(self) -> None:
        if self._layout is not None:
            raise RuntimeError(
                'Cannot directly retrieve the underlying array from a variable '
                f'with the non-standard layout {self._layout}.'
            )

    # -- replacing the array, also that of copies ------------------------------------------

    def _set_array(self, array: Any) -> None:
        """Sets the array of this variable and of its copies (``copy.copy``)."""
        if self._sharing is None:
            self._set_own_array(array)
        else:
            for var in list(self._sharing.values()):
                var._set_own_array(array)

    def _set_own_array(self, array: Any) -> None:
        self._chainerx_array_cache = None
        if isinstance(array, _chx_ndarray):
            self._node = None
            if (
                self._requires_grad
                and array.dtype.kind in FLOAT_KINDS
                and not array.is_backprop_required()
            ):
                array = array.view()
                array.require_grad()
        self._array = array
        if self._node is not None:
            node = self._node
            if node._data is not None or array is None:
                node._data = array
            if array is not None:
                node.dtype, node.shape = array.dtype, array.shape

    def _share_array_with(self, copy: VariableState) -> None:
        """Lets a copy have the same array, now and later."""
        if self._sharing is None:
            self._sharing = weakref.WeakValueDictionary({id(self): self})
        copy._sharing = self._sharing
        self._sharing[id(copy)] = copy

    def _part_from_copies(self) -> None:
        """Stops sharing the array, because copies stay on their devices."""
        if self._sharing is not None:
            del self._sharing[id(self)]
            self._sharing = None
