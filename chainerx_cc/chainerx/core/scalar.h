#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "chainerx/core/convert.h"
#include "chainerx/core/dtype.h"

namespace chainerx {

// A Python-like number. It has a kind but no width, so that it does not widen an array next to it. Integers are of the
// kind kUInt only if int64 does not have them.
class Scalar {
public:
    Scalar() : Scalar{int64_t{0}} {}
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Scalar(T v) {  // NOLINT(runtime/explicit)
        if constexpr (std::is_same_v<T, bool>) {
            kind_ = DtypeKind::kBool;
            int_ = v;
        } else if constexpr (std::is_integral_v<T>) {
            int_ = static_cast<int64_t>(v);
            kind_ = std::is_unsigned_v<T> && int_ < 0 ? DtypeKind::kUInt : DtypeKind::kInt;
        } else {
            kind_ = DtypeKind::kFloat;
            float_ = v;
        }
    }

    Scalar(std::complex<double> v)  // NOLINT(runtime/explicit)
        : kind_{DtypeKind::kComplex}, parts_{v.real(), v.imag()} {}

    DtypeKind kind() const { return kind_; }

    template <class T>
    T To() const {
        if (kind_ == DtypeKind::kFloat) return ConvertAny<double, T>(float_);
        if (kind_ == DtypeKind::kUInt) return ConvertAny<uint64_t, T>(static_cast<uint64_t>(int_));
        if (CHAINERX_UNLIKELY(kind_ == DtypeKind::kComplex)) {
            return ConvertAny<std::complex<double>, T>({parts_[0], parts_[1]});
        }
        return ConvertAny<int64_t, T>(int_);
    }
    explicit operator double() const { return To<double>(); }
    explicit operator int64_t() const { return To<int64_t>(); }
    explicit operator bool() const { return To<bool>(); }

    // Writes the value, in the given dtype, to memory of at least the item size.
    void Store(Dtype dtype, void* out) const {
        VisitAnyDtype(dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            *static_cast<T*>(out) = To<T>();
        });
    }

    friend std::ostream& operator<<(std::ostream& os, const Scalar& s) {
        if (s.kind_ == DtypeKind::kBool) return os << (s.int_ != 0 ? "True" : "False");
        if (s.kind_ == DtypeKind::kInt) return os << s.int_;
        if (s.kind_ == DtypeKind::kUInt) return os << static_cast<uint64_t>(s.int_);
        if (s.kind_ == DtypeKind::kComplex) {
            return os << '(' << s.parts_[0] << (std::signbit(s.parts_[1]) ? "" : "+") << s.parts_[1] << "j)";
        }
        return os << s.float_;
    }

private:
    DtypeKind kind_;
    union {
        int64_t int_;
        double float_;
        double parts_[2];  // of a complex number
    };
};

// The dtype of results of an array and a number: a number never widens an array, but one with a fraction makes it
// floating point, and a complex one complex.
constexpr Dtype PromoteWithScalar(Dtype array, DtypeKind scalar) {
    if (scalar == DtypeKind::kComplex) return ToComplexDtype(array);
    return scalar == DtypeKind::kFloat ? ToFloatDtype(array) : array;
}

// The dtype of results of numbers alone.
constexpr Dtype GetScalarDtype(DtypeKind scalar) {
    switch (scalar) {
        case DtypeKind::kBool:
            return Dtype::kBool;
        case DtypeKind::kFloat:
            return Dtype::kFloat32;
        case DtypeKind::kComplex:
            return Dtype::kComplex64;
        case DtypeKind::kUInt:
            return Dtype::kUInt64;
        default:
            return Dtype::kInt32;
    }
}

// Raises if a number does not fit into a dtype: an integer one as in NumPy, where fractions are cut off, or a real one.
inline void CheckScalarFits(const Scalar& s, Dtype dtype) {
    if (s.kind() == DtypeKind::kComplex && !IsComplex(dtype)) {
        throw DtypeError{"the complex number ", s, " does not fit into dtype ", dtype};
    }
    if (s.kind() == DtypeKind::kBool || !IsInteger(dtype)) return;
    bool is_signed = GetKind(dtype) == DtypeKind::kInt;
    uint64_t most = ~uint64_t{0} >> (64 - GetItemSize(dtype) * 8 + (is_signed ? 1 : 0));
    if (s.kind() == DtypeKind::kFloat) {
        auto v = static_cast<double>(s);
        double end = std::ldexp(is_signed ? 0.5 : 1.0, static_cast<int>(GetItemSize(dtype) * 8));
        // Also false for not-a-number.
        if (std::trunc(v) >= (is_signed ? -end : 0.0) && v < end) return;
        throw DtypeError{"the number ", s, " is out of bounds for dtype ", dtype};
    }
    auto v = s.To<int64_t>();
    bool is_negative = v < 0 && s.kind() == DtypeKind::kInt;
    if (is_negative ? is_signed && v >= -static_cast<int64_t>(most) - 1 : static_cast<uint64_t>(v) <= most) return;
    throw DtypeError{"the integer ", s, " is out of bounds for dtype ", dtype};
}

}  // namespace chainerx
