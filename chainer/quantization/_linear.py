"""Products with weights of few bits, which stay packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer.functions._base import Operation, kernels
from chainer.quantization import _packing
from chainer.utils import type_check
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class QuantizedLinear(Operation):
    """y = x W^T + b with a constant W of few bits, in blocks along rows that have a scale each."""

    _kernels = kernels(retain=())

    def __init__(self, dtype: str, block_size: int, has_zero: bool) -> None:
        self.dtype = dtype
        self.block_size = block_size
        self.has_zero = has_zero

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(3 + self.has_zero <= n_in, n_in <= 4 + self.has_zero)
        x, W, scale, *rest = in_types
        type_check.expect_arguments((x, W, scale), ('x', 'W', 'scale'))
        type_check.expect(x.dtype.kind == 'f', x.ndim > 0, scale.dtype.kind == 'f')
        expected = numpy.int8 if self.dtype == 'int8' else numpy.uint8
        type_check.expect(W.dtype == expected, x.shape[-1] > 0)
        # Rows have whole bytes, and may be padded to whole blocks.
        inner, n_bytes, n_scales = (type_check.eval(v) for v in (x.shape[-1], W.size, scale.size))
        blocks, bits = -(-inner // self.block_size), _packing.DTYPES[self.dtype][0]
        rows = n_scales // blocks
        type_check.expect(scale.size == rows * blocks)
        row = n_bytes // max(rows, 1)
        type_check.expect(W.size == rows * row)
        least, most = (-(-n * bits // 8) for n in (inner, blocks * self.block_size))
        type_check.expect(W.size >= rows * least, W.size <= rows * most)
        if self.has_zero:
            type_check.expect(rest[0].size == scale.size)
        for b in rest[self.has_zero :]:
            type_check.expect(b.ndim == 1, b.shape[0] == rows, b.dtype == x.dtype)

    def _parts(self, inputs: Sequence[Any]) -> tuple[Any, Any, Any]:
        """W as rows of bytes, and scales and zero points of blocks of rows."""
        x, W, scale, *rest = inputs
        blocks = -(-x.shape[-1] // self.block_size)
        zero = rest[0].reshape(-1, blocks) if self.has_zero else None
        scale = scale.reshape(-1, blocks)
        return W.reshape(len(scale), -1), scale, zero

    def decode(self, inputs: Sequence[Any]) -> Any:
        """W as numbers (outputs, inputs)."""
        inner = inputs[0].shape[-1]
        rows, scale, zero = self._parts(inputs)
        xp = backend.get_array_module(rows)
        wide = numpy.promote_types(inputs[0].dtype, numpy.float32)
        bits, is_signed = _packing.DTYPES[self.dtype]

        def spread(parameter):
            return xp.repeat(parameter.astype(wide), self.block_size, axis=1)[:, :inner]

        q = _packing.unpack_rows(rows, self.dtype, inner).astype(wide)
        if zero is not None:
            q -= spread(zero)
        elif not is_signed:
            q -= 2 ** (bits - 1)
        return q * spread(scale)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x = inputs[0]
        self.retain_inputs(tuple(range(len(inputs))))
        W: Any = self.decode(inputs)
        y = _cast(x.astype(W.dtype).dot(W.T), x.dtype)
        if len(inputs) > 3 + self.has_zero:
            y += inputs[-1]
        return (y,)

    def forward_chainerx(self, inputs: tuple[chainerx.ndarray, ...]) -> tuple[Any, ...]:
        function: Any = chainerx.quantized_linear
        b = inputs[-1] if len(inputs) > 3 + self.has_zero else None
        parts = self._parts(inputs)
        return (function(inputs[0], *parts, b, self.dtype, self.block_size),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        gxs: list[Any] = []
        for i in targets:
            if i == 0:
                W = self.decode([getattr(each, 'array', each) for each in xs])
                gxs.append(m.cast(m.matmul(gy, W.astype(gy.dtype)), xs[0].dtype))
            elif i == 3 + self.has_zero:
                gxs.append(m.sum(gy, axis=tuple(range(gy.ndim - 1))))
            else:
                gxs.append(None)
        return gxs


def quantized_linear(
    x: VariableLike,
    W: NdArray,
    scale: NdArray,
    zero_point: NdArray | None = None,
    b: VariableLike | None = None,
    dtype: str = 'int4',
    block_size: int = 32,
) -> Variable:
    r"""Product with a constant matrix of few bits, as ``MatMulNBits`` of ONNX Runtime.

    .. math:: y_{i} = b_i + \sum_j s_{ik} (q_{ij} - z_{ik}) \, x_{j}

    Here :math:`j` is the last axis of ``x``, and :math:`k = \lfloor j / B \rfloor` a block.
    ChainerX, whose kernels serve NumPy arrays, too, decodes the integers while it multiplies. There
    is a gradient for ``x`` and ``b``.

    Args:
        x (~chainer.Variable or :ref:`ndarray`): Floats of shape :math:`(..., I)`.
        W (:ref:`ndarray`): Integers :math:`q` as bytes, of any shape: :math:`O` rows one after
            another, each of them with the first integers in the lowest bits of a byte. A row has
            whole bytes, and may be padded to whole blocks. Its dtype is uint8, or int8 for the
            ``dtype`` int8.
        scale (:ref:`ndarray`): Floats :math:`s` of shape :math:`(O, \lceil I / B \rceil)`, or
            flattened.
        zero_point (:ref:`ndarray`): Numbers :math:`z` like ``scale``; the middle of the range of
            ``dtype`` unless given, which is zero for integers with a sign.
        b (~chainer.Variable or :ref:`ndarray`): Bias of shape :math:`(O,)`, of the dtype of ``x``.
        dtype (str): Dtype of the integers: int2, int4, int8, uint2, uint4 or uint8.
        block_size (int): Length :math:`B` of a block.

    Returns:
        ~chainer.Variable: Array of shape :math:`(..., O)`, of the dtype of ``x``.

    Raises:
        ValueError: ``dtype`` or ``block_size`` is not allowed.
        ~chainer.utils.type_check.InvalidType: Shapes or dtypes do not fit.

    .. admonition:: Example

        >>> from chainer.quantization import quantized_linear
        >>> x = np.array([[1, 10, 100]], np.float32)
        >>> W = np.array([[0x21, 0x03], [0xff, 0x00]], np.uint8)  # 1, 2, 3 and -1, -1, 0
        >>> quantized_linear(x, W, np.array([[0.5], [2]], np.float32)).array
        array([[160.5, -22. ]], dtype=float32)

    """
    if dtype not in _packing.DTYPES:
        raise ValueError(f'dtype must be one of {", ".join(_packing.DTYPES)}, but is {dtype!r}')
    if block_size < 1:
        raise ValueError(f'block_size must be positive, but is {block_size!r}')
    inputs = [x, W, scale, zero_point, b]
    function = QuantizedLinear(dtype, block_size, zero_point is not None)
    return function.apply(tuple(each for each in inputs if each is not None))[0]
