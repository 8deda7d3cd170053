#include "chainerx/ops/quantized_linear.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "chainerx/core/operands.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const QuantizedLinearKernel kQuantizedLinearKernel{"quantized_linear"};
const DecodeRowsKernel kDecodeRowsKernel{"decode_rows"};

namespace {

constexpr const char* kQuantizedLinearName = "quantized_linear";

QuantizedFormat FormatOf(NarrowDtype dtype, int64_t block) {
    if (block < 1) throw ChainerxError{kQuantizedLinearName, ": block_size is ", block, ", expected a positive number"};
    auto index = static_cast<int>(dtype);
    return {2 << index % 3, index < 3, block};
}

// A constant matrix of integers with scales, all of whose arrays have no graph.
class QuantizedMatrix {
public:
    QuantizedMatrix(const Array& w, const Array& scale, const std::optional<Array>& zero, const QuantizedFormat& format,
                    int64_t inner)
        : format_{format}, inner_{inner} {
        CheckBytes(w);
        Shape blocks{w.shape()[0], format.CountBlocks(inner)};
        if (!IsFloat(scale.dtype())) {
            throw DtypeError{kQuantizedLinearName, ": scale has dtype ", scale.dtype(), ", expected floats"};
        }
        CheckLike(kQuantizedLinearName, "scale", scale, blocks, scale.dtype(), w.device());
        if (zero.has_value()) CheckLike(kQuantizedLinearName, "zero_point", *zero, blocks, zero->dtype(), w.device());
        w_ = Contiguous(w.AsDetached());
        scale_ = scale.AsDetached();
        if (zero.has_value()) zero_ = zero->AsDetached();
    }

    int64_t columns() const { return w_.shape()[0]; }

    // x W^T for x (..., inner) of a dtype in which kernels compute
    Array Multiply(const Array& x) const {
        if (x.dtype() != Dtype::kFloat32 || !HasKernel(x, kQuantizedLinearKernel)) {
            return Matmul(x, Transpose(Decode(x.dtype())));
        }
        Shape shape = x.shape();
        shape.back() = columns();
        Array y = Empty(shape, Dtype::kFloat32, x.device());
        int64_t rows = Shape(shape.begin(), shape.end() - 1).GetTotalSize();
        kQuantizedLinearKernel(x.device(), Reshape(Contiguous(x), Shape{rows, inner_}), w_, Numbers(scale_),
                               Numbers(zero_), format_, Reshape(y, Shape{rows, columns()}));
        return y;
    }

    // (columns, inner)
    Array Decode(Dtype dtype) const {
        if (dtype == Dtype::kFloat32 && HasKernel(w_, kDecodeRowsKernel)) {
            Array out = Empty(Shape{columns(), inner_}, dtype, w_.device());
            kDecodeRowsKernel(w_.device(), w_, Numbers(scale_), Numbers(zero_), format_, out);
            return out;
        }
        Array numbers = AsType(Integers(), dtype);
        if (zero_) numbers = numbers - Spread(zero_, dtype);
        if (!zero_ && format_.center() != 0) numbers = numbers - Scalar{format_.center()};
        return numbers * Spread(scale_, dtype);
    }

private:
    void CheckBytes(const Array& w) const {
        Dtype expected = format_.is_signed && format_.bits == 8 ? Dtype::kInt8 : Dtype::kUInt8;
        if (w.dtype() != expected) {
            throw DtypeError{kQuantizedLinearName, ": W has dtype ", w.dtype(), ", expected ", expected};
        }
        if (w.ndim() != 2) throw DimensionError{kQuantizedLinearName, ": W of shape ", w.shape(), " is no matrix"};
        int64_t per_byte = 8 / format_.bits;
        int64_t least = (inner_ + per_byte - 1) / per_byte;
        int64_t padding = (format_.block - 1) / per_byte + 1;
        if (w.shape()[1] < least || w.shape()[1] - least > padding) {
            throw DimensionError{kQuantizedLinearName,        ": W has shape ", w.shape(), ", expected ", least,
                                 " bytes in a row for x of ", inner_,           " numbers"};
        }
    }

    static Array Numbers(const Array& a) { return a ? Input(a, Dtype::kFloat32) : a; }

    // Elements of a block along a row
    Array Spread(const Array& parameter, Dtype dtype) const {
        int64_t width = std::min(format_.block, std::max<int64_t>(inner_, 1));
        return At(Repeat(AsType(parameter, dtype), {width}, 1), {Slice{}, Slice{0, inner_, 1}});
    }

    Array Integers() const {
        if (format_.bits == 8) return At(w_, {Slice{}, Slice{0, inner_, 1}});
        int per_byte = 8 / format_.bits;
        Array bytes = AsType(w_, Dtype::kInt32);
        std::vector<Array> parts;
        for (int i = 0; i < per_byte; ++i) {
            // Up, so that the highest bit is the sign, and down again
            int left = 32 - format_.bits * (i + 1);
            Array part = LeftShift(bytes, Scalar{left});
            part = RightShift(part, Scalar{32 - format_.bits});
            parts.push_back(format_.is_signed ? part : BitwiseAnd(part, Scalar{(1 << format_.bits) - 1}));
        }
        Array all = Reshape(Stack(parts, 2), Shape{columns(), w_.shape()[1] * per_byte});
        return At(all, {Slice{}, Slice{0, inner_, 1}});
    }

    QuantizedFormat format_;
    int64_t inner_;
    Array w_;
    Array scale_;
    Array zero_;  // or no array
};

}  // namespace

CHAINERX_ROUTINE(QuantizedLinear, "quantized_linear",
                 "x, W, scale, zero_point=None, b=None, dtype='int4', block_size=32", "quantized_linear decode_rows",
                 R"(
Affine map :math:`y = x W^\top + b` with a constant matrix of few bits, :math:`W_{ij} = s_{ik} (q_{ij} - z_{ik})`.

Here :math:`k = \lfloor j / B \rfloor` is the block of an element of a row. The integers stay packed, and are decoded
while they are multiplied. Sums are of float32, or of float64 if ``x`` is. Differentiable any number of times with
respect to ``x`` and ``b``.

Args:
    x (~chainerx.ndarray): Floats of shape :math:`(..., I)`.
    W (~chainerx.ndarray): Integers :math:`q` as bytes, of dtype uint8, or int8 for the ``dtype`` int8. Each of its
        :math:`O` rows holds :math:`I` integers, the first ones in the lowest bits of a byte. Rows may be padded to
        whole blocks.
    scale (~chainerx.ndarray): Floats :math:`s` of shape :math:`(O, \lceil I / B \rceil)`.
    zero_point (~chainerx.ndarray or None): Numbers :math:`z` of the shape of ``scale``; the middle of the range of
        ``dtype`` unless given, which is zero for integers with a sign.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    dtype (str): Dtype of the integers.
    block_size (int): Length :math:`B` of a block.

Returns:
    ~chainerx.ndarray: Array of shape :math:`(..., O)` and of the dtype of ``x``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.
    ~chainerx.DtypeError: If ``x`` or ``scale`` are no floats, or ``W`` is of another dtype.

>>> x = chainerx.array([[1, 10, 100]], 'float32')
>>> W = chainerx.array([[0x21, 0x03], [0xff, 0x00]], 'uint8')  # 1, 2, 3 and -1, -1, 0
>>> chainerx.quantized_linear(x, W, chainerx.array([[0.5], [2]], 'float32'))
array([[160.5, -22. ]], shape=(1, 2), dtype=float32, device='native:0')
)");
Array QuantizedLinear(const Array& x, const Array& w, const Array& scale, const std::optional<Array>& zero_point,
                      const std::optional<Array>& b, NarrowDtype dtype, int64_t block_size) {
    if (!IsFloat(x.dtype())) throw DtypeError{kQuantizedLinearName, ": x has dtype ", x.dtype(), ", expected floats"};
    if (x.ndim() == 0) throw DimensionError{kQuantizedLinearName, ": x has no axes"};
    CheckDevices(x, w);
    QuantizedMatrix matrix{w, scale, zero_point, FormatOf(dtype, block_size), x.shape().back()};
    if (b.has_value()) CheckLike(kQuantizedLinearName, "b", *b, Shape{matrix.columns()}, b->dtype(), x.device());
    Dtype compute = GetComputeDtype(x.dtype());
    Array y = AsType(matrix.Multiply(AsType(x.AsDetached(), compute, false)), x.dtype(), false);
    RecordFunction(kQuantizedLinearName, {&x}, {&y}, [matrix, compute, to = x.dtype()](BackwardContext& ctx) {
        ctx.SetGrad(0, AsType(Matmul(AsType(ctx.grad(), compute, false), matrix.Decode(compute)), to, false));
    });
    return b.has_value() ? y + AsType(*b, x.dtype(), false) : y;
}

}  // namespace chainerx
