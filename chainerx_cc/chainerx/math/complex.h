#pragma once

// Functions of complex numbers, with NumPy's values. Only the host computes them, and only once for all instruction
// sets: *_isa.cc sources must not use them.

#include <cmath>
#include <complex>
#include <limits>

namespace chainerx::math {

// Without the search for infinite factors that the operator of the language ends with.
template <class T>
std::complex<T> Product(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's method, which neither overflows nor underflows between.
template <class T>
std::complex<T> Quotient(std::complex<T> a, std::complex<T> b) {
    T size = std::abs(b.real());
    if (size >= std::abs(b.imag())) {
        if (size == 0 && b.imag() == 0) return {a.real() / size, a.imag() / size};
        T ratio = b.imag() / b.real();
        T scale = 1 / (b.real() + b.imag() * ratio);
        return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    T ratio = b.real() / b.imag();
    T scale = 1 / (b.imag() + b.real() * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

template <class T>
std::complex<T> Pow(std::complex<T> a, std::complex<T> b) {
    if (b == std::complex<T>{}) return T{1};
    if (a == std::complex<T>{}) {
        if (b.real() > 0 && b.imag() == 0) return T{0};
        return {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()};
    }
    constexpr int kMostProducts = 100;
    if (b.imag() != 0 || b.real() != std::trunc(b.real()) || std::abs(b.real()) >= kMostProducts) return std::pow(a, b);
    std::complex<T> result{1};
    for (auto n = static_cast<unsigned>(std::abs(b.real())); n != 0; n /= 2) {
        if (n % 2 != 0) result = Product(result, a);
        a = Product(a, a);
    }
    return b.real() < 0 ? Quotient(std::complex<T>{1}, result) : result;
}

template <class T>
std::complex<T> Sign(std::complex<T> x) {
    if (x == std::complex<T>{}) return x;
    T size = std::hypot(x.real(), x.imag());
    return {x.real() / size, x.imag() / size};
}

#define CHAINERX_COMPLEX_FUNCTION(Name, name) \
    template <class T>                        \
    std::complex<T> Name(std::complex<T> x) { \
        return std::name(x);                  \
    }
CHAINERX_COMPLEX_FUNCTION(Exp, exp)
CHAINERX_COMPLEX_FUNCTION(Log, log)
CHAINERX_COMPLEX_FUNCTION(Log10, log10)
CHAINERX_COMPLEX_FUNCTION(Sin, sin)
CHAINERX_COMPLEX_FUNCTION(Cos, cos)
CHAINERX_COMPLEX_FUNCTION(Tan, tan)
CHAINERX_COMPLEX_FUNCTION(Asin, asin)
CHAINERX_COMPLEX_FUNCTION(Acos, acos)
CHAINERX_COMPLEX_FUNCTION(Atan, atan)
CHAINERX_COMPLEX_FUNCTION(Sinh, sinh)
CHAINERX_COMPLEX_FUNCTION(Cosh, cosh)
CHAINERX_COMPLEX_FUNCTION(Tanh, tanh)
CHAINERX_COMPLEX_FUNCTION(Asinh, asinh)
CHAINERX_COMPLEX_FUNCTION(Acosh, acosh)
CHAINERX_COMPLEX_FUNCTION(Atanh, atanh)
#undef CHAINERX_COMPLEX_FUNCTION

template <class T>
std::complex<T> Log2(std::complex<T> x) {
    return std::log(x) * static_cast<T>(1.44269504088896340736);
}
template <class T>
std::complex<T> Exp2(std::complex<T> x) {
    return std::exp(x * static_cast<T>(0.69314718055994530942));
}
// Precise near zero, as those of real numbers.
template <class T>
std::complex<T> Log1p(std::complex<T> x) {
    T size = std::abs(x.real()) + std::abs(x.imag());
    T re = size < T{0.25} ? std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()) / 2
                          : std::log(std::hypot(1 + x.real(), x.imag()));
    return {re, std::atan2(x.imag(), 1 + x.real())};
}
template <class T>
std::complex<T> Expm1(std::complex<T> x) {
    T half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}

}  // namespace chainerx::math
