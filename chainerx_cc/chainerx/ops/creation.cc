#include "chainerx/ops/creation.h"

#include <algorithm>
#include <cmath>

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {

const ArangeKernel kArangeKernel{"arange"};

Array Full(const Shape& shape, const Scalar& value, Device& device) {
    return Full(shape, value, value.DefaultDtype(), device);
}

Array Zeros(const Shape& shape, Dtype dtype, Device& device) { return Full(shape, Scalar{0}, dtype, device); }
Array Ones(const Shape& shape, Dtype dtype, Device& device) { return Full(shape, Scalar{1}, dtype, device); }
Array EmptyLike(const Array& a) { return Empty(a.shape(), a.dtype(), a.device()); }
Array FullLike(const Array& a, const Scalar& value) { return Full(a.shape(), value, a.dtype(), a.device()); }
Array ZerosLike(const Array& a) { return Zeros(a.shape(), a.dtype(), a.device()); }
Array OnesLike(const Array& a) { return Ones(a.shape(), a.dtype(), a.device()); }

Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<Dtype> dtype, Device& device) {
    if (static_cast<double>(step) == 0) throw ChainerxError{"arange: step must not be zero"};
    bool integral =
            start.kind() != DtypeKind::kFloat && stop.kind() != DtypeKind::kFloat && step.kind() != DtypeKind::kFloat;
    Dtype d = dtype.value_or(integral ? Dtype::kInt64 : Dtype::kFloat64);
    double n = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step));
    if (!(n < 0x1p62)) {  // or not a number
        throw ChainerxError{"arange: from ", start, " to ", stop, " in steps of ", step, ": no size for the result"};
    }
    auto size = static_cast<int64_t>(std::max(n, 0.0));
    if (d == Dtype::kBool && size > 2) throw DtypeError{"arange: at most two elements are possible with dtype bool"};
    Array out = Empty({size}, d, device);
    if (size > 0) kArangeKernel(device, out, start, step);
    return out;
}

Array Linspace(double start, double stop, int64_t num, bool endpoint, std::optional<Dtype> dtype, Device& device) {
    if (num < 0) throw ChainerxError{"linspace: the number of samples must not be negative, was ", num};
    Dtype d = dtype.value_or(Dtype::kFloat64);
    Array out = Empty({num}, Dtype::kFloat64, device);
    int64_t intervals = endpoint ? num - 1 : num;
    double step = intervals > 0 ? (stop - start) / static_cast<double>(intervals) : 0.0;
    if (num > 0) kArangeKernel(device, out, Scalar{start}, Scalar{step});
    if (endpoint && num > 1) {
        // Exactly the end, whatever the rounding of the steps.
        kFillKernel(device, internal::MakeView(out, {1}, out.strides(), (num - 1) * out.GetItemSize()), Scalar{stop});
    }
    return AsType(out, d, false);
}

namespace {

// A matrix of the comparison of i + k with j, for rows i and columns j.
template <class Compare>
Array CompareIndices(int64_t n, std::optional<int64_t> m, int64_t k, Dtype dtype, Device& device,
                     const Compare& compare) {
    CheckShape({n, m.value_or(n)}, GetItemSize(Dtype::kInt64));
    k = std::min(std::max(k, -n), m.value_or(n));  // further diagonals are like these
    Array rows = Arange(Scalar{k}, Scalar{n + k}, Scalar{1}, Dtype::kInt64, device);
    Array columns = Arange(Scalar{0}, Scalar{m.value_or(n)}, Scalar{1}, Dtype::kInt64, device);
    return AsType(compare(Reshape(rows, Shape{n, 1}), columns), dtype, false);
}

}  // namespace

Array Identity(int64_t n, Dtype dtype, Device& device) { return Eye(n, n, 0, dtype, device); }

Array Eye(int64_t n, std::optional<int64_t> m, int64_t k, Dtype dtype, Device& device) {
    if (n < 0 || m.value_or(0) < 0) throw DimensionError{"eye: negative dimensions are not allowed"};
    return CompareIndices(n, m, k, dtype, device, Equal);
}

Array Tri(int64_t n, std::optional<int64_t> m, int64_t k, Dtype dtype, Device& device) {
    if (n < 0 || m.value_or(0) < 0) throw DimensionError{"tri: negative dimensions are not allowed"};
    return CompareIndices(n, m, k, dtype, device, GreaterEqual);
}

Array FromHost(const Shape& shape, Dtype dtype, const void* data, Device& device) {
    Array out = Empty(shape, dtype, device);
    device.CopyFromHost(out.raw_data(), data, out.GetNBytes());
    return out;
}

void Fill(const Array& a, const Scalar& value) {
    internal::CheckInPlace(a, "fill");
    CheckScalarFits(value, a.dtype());
    kFillKernel(a.device(), a, value);
    a.body()->storage->BumpVersion();
}

}  // namespace chainerx
