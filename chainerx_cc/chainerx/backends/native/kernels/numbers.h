#pragma once

// What linear algebra has to know of real and complex numbers, for code that is written once for both.

#include <cmath>
#include <complex>
#include <type_traits>

namespace chainerx::native {

namespace internal {
template <class T>
struct PartOf {
    using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
    using type = T;
};
}  // namespace internal

// The type of the parts of a complex number; a real one is its own part.
template <class T>
using RealOf = typename internal::PartOf<T>::type;
template <class T>
inline constexpr bool kIsReal = std::is_same_v<T, RealOf<T>>;

template <class T>
RealOf<T> GetReal(T x) {
    return std::real(x);
}

// The complex conjugate. (std::conj of a real number is complex.)
template <class T>
T Conjugate(T x) {
    if constexpr (kIsReal<T>) {
        return x;
    } else {
        return std::conj(x);
    }
}

// The size by which LAPACK chooses pivots, which needs no root.
template <class T>
RealOf<T> GetSize(T x) {
    if constexpr (kIsReal<T>) {
        return std::fabs(x);
    } else {
        return std::fabs(x.real()) + std::fabs(x.imag());
    }
}

// x / |x|; of a real number that is zero or not-a-number, 1.
template <class T>
T GetDirection(T x) {
    if constexpr (kIsReal<T>) {
        return x < 0 ? T{-1} : T{1};
    } else {
        return x / std::abs(x);
    }
}

}  // namespace chainerx::native
