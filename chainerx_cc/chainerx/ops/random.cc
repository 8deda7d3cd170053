#include "chainerx/ops/random.h"

#include <cmath>

#include "chainerx/core/context.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const RandomFloatKernel kRandomUniformKernel{"random_uniform"};
const RandomFloatKernel kRandomNormalKernel{"random_normal"};
const RandomIntegersKernel kRandomIntegersKernel{"random_integers"};
const DropoutKernel kDropoutKernel{"dropout"};

namespace {

// As many positions as any dtype needs: one for each element.
RandomStream TakeStream(const Array& out) { return out.context().random_generator().Take(out.GetTotalSize()); }

Array MakeRandom(const char* name, const RandomFloatKernel& kernel, const Shape& shape, double shift, double factor,
                 Dtype dtype, Device& device) {
    if (!IsFloat(dtype)) throw DtypeError{name, ": dtype must be of floating point, not ", dtype};
    Array out = Empty(shape, dtype, device);
    kernel(device, TakeStream(out), shift, factor, out);
    return out;
}

Array DropoutOf(const Array& x, double ratio, const RandomStream& stream) {
    Array y = Empty(x.shape(), x.dtype(), x.device());
    kDropoutKernel(x.device(), stream, ratio, AsContiguous(x.AsDetached()), y);
    if (GraphMask mask = internal::GetRecordMask(x)) {
        internal::Record("dropout", mask, {&x}, {&y}, [ratio, stream](BackwardContext& ctx) {
            ctx.SetGrad(0, DropoutOf(ctx.grad(), ratio, stream));
        });
    }
    return y;
}

}  // namespace

CHAINERX_ROUTINE(RandomUniform, "_random_uniform", "shape, low, high, dtype, device=None", "random_uniform",
                 "Uniform numbers from the context's generator.");
Array RandomUniform(const Shape& shape, double low, double high, Dtype dtype, Device& device) {
    if (!std::isfinite(high - low)) {
        throw ChainerxError{"uniform: the range from ", low, " to ", high, " is not finite"};
    }
    return MakeRandom("uniform", kRandomUniformKernel, shape, low, high - low, dtype, device);
}

CHAINERX_ROUTINE(RandomNormal, "_random_normal", "shape, loc, scale, dtype, device=None", "random_normal",
                 "Normal numbers from the context's generator.");
Array RandomNormal(const Shape& shape, double loc, double scale, Dtype dtype, Device& device) {
    if (!(scale >= 0)) throw ChainerxError{"normal: scale must not be negative, was ", scale};
    return MakeRandom("normal", kRandomNormalKernel, shape, loc, scale, dtype, device);
}

CHAINERX_ROUTINE(RandomIntegers, "_random_integers", "shape, low, high, device=None", "random_integers",
                 "Integers below ``high`` from the context's generator.");
Array RandomIntegers(const Shape& shape, int64_t low, int64_t high, Device& device) {
    if (low >= high) throw ChainerxError{"randint: low must be below high, but ", low, " and ", high, " were given"};
    Array out = Empty(shape, Dtype::kInt64, device);
    kRandomIntegersKernel(device, TakeStream(out), low, high, out);
    return out;
}

CHAINERX_ROUTINE(Dropout, "dropout", "x, ratio=0.5, mask=None", "dropout", R"(
Elements set to zero at random.

With probability ``ratio`` the factor of an element is zero, else :math:`1 / (1 - ratio)`. The numbers come from
ChainerX's generator, see :func:`chainerx.random.seed`. Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of a floating point dtype.
    ratio (float): Probability, at least zero and below one.
    mask (~chainerx.ndarray or None): Factors of the elements, in place of random ones.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``x``.

Raises:
    ~chainerx.ChainerxError: If ``ratio`` is out of range.

>>> y = chainerx.dropout(chainerx.ones(1000), 0.5)
>>> bool(((y == 0) | (y == 2)).all())
True
>>> chainerx.dropout(chainerx.array([1., 2.]), mask=chainerx.array([0., 2.]))
array([0., 4.], shape=(2,), dtype=float64, device='native:0')
)");
Array Dropout(const Array& x, double ratio, const std::optional<Array>& mask) {
    if (!IsFloat(x.dtype())) throw DtypeError{"dropout: x must be of a floating point dtype, not ", x.dtype()};
    if (!(ratio >= 0 && ratio < 1)) throw ChainerxError{"dropout: ratio must be in the range [0, 1), was ", ratio};
    if (!mask.has_value()) return DropoutOf(x, ratio, TakeStream(x));
    CheckDevices(x, *mask);
    if (BroadcastShapes(x.shape(), mask->shape()) != x.shape()) {
        throw DimensionError{"dropout: mask of shape ", mask->shape(), " cannot be broadcast to x of shape ",
                             x.shape()};
    }
    return x * AsType(*mask, x.dtype(), false);
}

}  // namespace chainerx
