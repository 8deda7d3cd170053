#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "chainerx/core/dtype.h"

namespace chainerx {

// A Python-like number. It has a kind but no width, so that it does not widen an array next to it.
class Scalar {
public:
    Scalar() : Scalar{int64_t{0}} {}
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Scalar(T v) {  // NOLINT(runtime/explicit)
        if constexpr (std::is_same_v<T, bool>) {
            kind_ = DtypeKind::kBool;
            int_ = v;
        } else if constexpr (std::is_integral_v<T>) {
            kind_ = DtypeKind::kInt;
            int_ = static_cast<int64_t>(v);
        } else {
            kind_ = DtypeKind::kFloat;
            float_ = v;
        }
    }

    DtypeKind kind() const { return kind_; }

    template <class T>
    T To() const {
        if constexpr (std::is_same_v<T, Float16>) {
            return Float16{To<double>()};
        } else if constexpr (std::is_same_v<T, bool>) {
            return kind_ == DtypeKind::kFloat ? float_ != 0 : int_ != 0;
        } else {
            return kind_ == DtypeKind::kFloat ? static_cast<T>(float_) : static_cast<T>(int_);
        }
    }
    explicit operator double() const { return To<double>(); }
    explicit operator int64_t() const { return To<int64_t>(); }
    explicit operator bool() const { return To<bool>(); }

    // Writes the value, in the given dtype, to memory of at least the item size.
    void Store(Dtype dtype, void* out) const {
        VisitDtype(dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            *static_cast<T*>(out) = To<T>();
        });
    }

    friend std::ostream& operator<<(std::ostream& os, const Scalar& s) {
        if (s.kind_ == DtypeKind::kBool) return os << (s.int_ != 0 ? "True" : "False");
        if (s.kind_ == DtypeKind::kInt) return os << s.int_;
        return os << s.float_;
    }

private:
    DtypeKind kind_;
    union {
        int64_t int_;
        double float_;
    };
};

// The dtype of results of an array and a number: a number never widens an array, but one with a fraction makes it
// floating point.
constexpr Dtype PromoteWithScalar(Dtype array, DtypeKind scalar) {
    return scalar == DtypeKind::kFloat ? ToFloatDtype(array) : array;
}

// The dtype of results of numbers alone.
constexpr Dtype GetScalarDtype(DtypeKind scalar) {
    return scalar == DtypeKind::kBool ? Dtype::kBool : scalar == DtypeKind::kFloat ? Dtype::kFloat32 : Dtype::kInt32;
}

// Raises if an integer does not fit into the dtype, as NumPy does.
inline void CheckScalarFits(const Scalar& s, Dtype dtype) {
    if (s.kind() != DtypeKind::kInt || !IsInteger(dtype) || dtype == Dtype::kInt64) return;
    auto v = static_cast<int64_t>(s);
    int64_t bits = GetItemSize(dtype) * 8;
    int64_t lo = dtype == Dtype::kUInt8 ? 0 : -(int64_t{1} << (bits - 1));
    int64_t hi = dtype == Dtype::kUInt8 ? 255 : (int64_t{1} << (bits - 1)) - 1;
    if (v < lo || v > hi) throw DtypeError{"the integer ", v, " is out of bounds for dtype ", dtype};
}

}  // namespace chainerx
