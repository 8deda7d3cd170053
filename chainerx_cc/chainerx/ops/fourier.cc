#include "chainerx/ops/fourier.h"

#include <algorithm>
#include <cmath>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const FourierKernel kFourierKernel{"fourier", kTakesComplex};

namespace fourier {
namespace {

// A transform along axes, times a factor.
struct Transform {
    Axes axes;
    bool forward;
    double factor;

    // The transposed matrix, conjugated.
    Transform Adjoint() const { return {axes, !forward, factor}; }
    int8_t last() const { return axes.back(); }
};

Array Run(const Transform& f, const Array& a, const Shape& shape, Dtype dtype) {
    Array out = Empty(shape, dtype, a.device());
    kFourierKernel(a.device(), a.AsDetached(), f.axes, f.forward, f.factor, out);
    return out;
}

Array ComplexToComplex(const Transform& f, const Array& z) {
    return internal::RecordView("fft", z, Run(f, z, z.shape(), z.dtype()),
                                [f](const Array& gy) { return ComplexToComplex(f.Adjoint(), gy); });
}

// z with the frequencies along an axis multiplied, except for 0 and n / 2, which are their own conjugates.
Array MultiplyPairs(const Array& z, int8_t axis, int64_t n, double factor) {
    Shape one(z.ndim(), 1);
    Shape shape = one;
    shape[axis] = n / 2 + 1;
    Array factors = FilledArray(shape, factor, ToRealDtype(z.dtype()), z.device());
    auto set_one = [&](int64_t i) {
        Fill(internal::MakeView(factors, one, factors.strides(), i * factors.GetItemSize()), 1);
    };
    set_one(0);
    if (n % 2 == 0) set_one(n / 2);
    return z * factors;
}

Array HalfToReal(const Transform& f, const Array& z, int64_t n);

Array RealToHalf(const Transform& f, const Array& x) {
    int64_t n = x.shape()[f.last()];
    Shape shape = x.shape();
    shape[f.last()] = n / 2 + 1;
    return internal::RecordView("rfft", x, Run(f, x, shape, ToComplexDtype(x.dtype())), [f, n](const Array& gy) {
        // HalfToReal adds the conjugates, which the sum over the half does not have.
        return HalfToReal(f.Adjoint(), MultiplyPairs(gy, f.last(), n, 0.5), n);
    });
}

Array HalfToReal(const Transform& f, const Array& z, int64_t n) {
    Shape shape = z.shape();
    shape[f.last()] = n;
    return internal::RecordView("irfft", z, Run(f, z, shape, ToRealDtype(z.dtype())), [f, n](const Array& gy) {
        return MultiplyPairs(RealToHalf(f.Adjoint(), gy), f.last(), n, 2);
    });
}

void CheckLengths(const char* name, const Target& t) {
    for (int64_t n : t.lengths) {
        if (n < 1) throw ValueError{name, " must be at least 1, but is ", n};
    }
}

int64_t DefaultLength(int64_t length, Result result) { return result == Result::kReal ? 2 * (length - 1) : length; }

// The array cut off or continued by zeros.
Array Resize(const Array& a, const Axes& axes, const Shape& lengths) {
    Shape shape = a.shape();
    ArrayIndices kept(a.ndim(), Slice{});
    std::vector<std::vector<int64_t>> widths(a.ndim(), {0, 0});
    bool cuts = false;
    bool pads = false;
    for (size_t i = 0; i < axes.size(); ++i) {
        int8_t axis = axes[i];
        int64_t missing = lengths[i] - shape[axis];
        shape[axis] = lengths[i];
        if (missing < 0) kept[axis] = Slice{0, lengths[i], std::nullopt};
        widths[axis][1] = std::max<int64_t>(missing, 0);
        cuts = cuts || missing < 0;
        pads = pads || missing > 0;
    }
    CheckShape(shape, GetItemSize(Dtype::kComplex128));
    Array out = cuts ? At(a, kept) : a;
    return pads ? Pad(out, widths) : out;
}

Transform Scale(const Target& t, bool forward, const OptionalFftNorm& norm) {
    double n = 1;
    for (int64_t length : t.lengths) n *= static_cast<double>(length);
    FftNorm kind = norm.value_or(FftNorm::kBackward);
    bool divides = kind == (forward ? FftNorm::kForward : FftNorm::kBackward);
    return {t.axes, forward, kind == FftNorm::kOrtho ? 1 / std::sqrt(n) : divides ? 1 / n : 1};
}

Dtype RealDtype(const Array& a) {
    return ToRealDtype(a.dtype()) == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
}

void CheckHalfAxis(const Target& t) {
    if (t.axes.empty()) throw DimensionError{"axes must name at least one axis, the one that is halved"};
}

}  // namespace

Axes ToAxes(const std::vector<int64_t>& list, int8_t ndim) {
    Axes axes;
    for (int64_t axis : list) axes.push_back(NormalizeAxis(axis, ndim));
    NormalizeAxes(axes, ndim);  // refuses repeated ones
    return axes;
}

Target Along(const Array& a, const std::optional<int64_t>& n, int64_t axis, Result result) {
    int8_t ax = NormalizeAxis(axis, a.ndim());
    Target t{{ax}, {n.value_or(DefaultLength(a.shape()[ax], result))}};
    CheckLengths(n.has_value() ? "n" : "the length n along the axis", t);
    return t;
}

Target Along(const Array& a, const FftLengths& s, const FftAxes& axes, Result result) {
    int64_t ndim = a.ndim();
    int64_t count = axes.has_value() ? axes->size() : s.has_value() ? s->size() : ndim;
    if (s.has_value() && static_cast<int64_t>(s->size()) != count) {
        throw DimensionError{"s must have a length for each of the ", count, " axes, but has ", s->size()};
    }
    if (!axes.has_value() && count > ndim) {
        throw DimensionError{"s has ", count, " lengths, but a has only ", ndim, " dimensions"};
    }
    Target t;
    if (axes.has_value()) {
        t.axes = ToAxes(*axes, a.ndim());
    } else {
        for (int64_t axis = ndim - count; axis < ndim; ++axis) t.axes.push_back(static_cast<int8_t>(axis));
    }
    for (int64_t i = 0; i < count; ++i) {
        int64_t length = DefaultLength(a.shape()[t.axes[i]], i + 1 == count ? result : Result::kComplex);
        t.lengths.push_back(s.has_value() && (*s)[i] != -1 ? (*s)[i] : length);
    }
    CheckLengths(s.has_value() ? "a length in s" : "the length along an axis", t);
    return t;
}

Array ComplexToComplex(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm) {
    Dtype dtype = ToComplexDtype(RealDtype(a));
    if (t.axes.empty()) return AsType(a, dtype);
    Array z = AsType(Resize(a, t.axes, t.lengths), dtype, false);
    return ComplexToComplex(Scale(t, forward, norm), z);
}

Array RealToHalf(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm) {
    if (IsComplex(a.dtype())) throw DtypeError{"a must be real, but has dtype ", a.dtype()};
    CheckHalfAxis(t);
    Array x = AsType(Resize(a, t.axes, t.lengths), RealDtype(a), false);
    return RealToHalf(Scale(t, forward, norm), x);
}

Array HalfToReal(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm) {
    CheckHalfAxis(t);
    int64_t n = t.lengths.back();
    Shape half = t.lengths;
    half.back() = n / 2 + 1;
    Array z = AsType(Resize(a, t.axes, half), ToComplexDtype(RealDtype(a)), false);
    return HalfToReal(Scale(t, forward, norm), z, n);
}

}  // namespace fourier
}  // namespace chainerx
