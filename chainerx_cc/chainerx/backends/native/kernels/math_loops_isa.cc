#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int64_t kBlock = 2048;

// Applies `fast` to numbers of the usual range (normal ones for logarithms, angles that are not huge), and repeats a
// block with `any` if it had other numbers.
template <bool kIsLog, class T, class Fast, class Any>
CHAINERX_INLINE void FastLoop(int64_t n, const T* x, T* y, Fast fast, Any any) {
    T copy[kBlock];  // of an argument that is overwritten
    for (int64_t begin = 0; begin < n; begin += kBlock) {
        int64_t count = n - begin < kBlock ? n - begin : kBlock;
        const T* from = x + begin;
        T* to = y + begin;
        if (from == to) {
            __builtin_memcpy(copy, from, count * sizeof(T));
            from = copy;
        }
        math::BitRange<T> range;
#pragma GCC ivdep
        for (int64_t i = 0; i < count; ++i) {
            if (kIsLog) {
                range.AddPositive(from[i]);
            } else {
                range.AddMagnitude(from[i]);
            }
            to[i] = fast(from[i]);
        }
        bool usual = kIsLog ? range.AllNormal() : range.AllBelow(math::Format<T>::kTrigMax);
        if (!usual) {
#pragma GCC ivdep
            for (int64_t i = 0; i < count; ++i) {
                to[i] = any(from[i]);
            }
        }
    }
}

template <class T>
void PowLoop(int64_t n, const T* x1, const T* x2, T* y) {
    math::BitRange<T> bases;
    math::BitRange<T> exponents;
    math::IntOf<T> signs = 0;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        signs |= math::ToBits(x1[i]);
        y[i] = math::PowNormal(x1[i], x2[i], &bases, &exponents);
    }
    if (!bases.AllNormal() || !exponents.AllBelow(math::kPowNormal<T>)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            y[i] = math::Pow(x1[i], x2[i]);
        }
    } else if (signs < 0) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            y[i] = math::PowSign(y[i], x1[i], x2[i]);
        }
    }
}
#ifndef __FMA__
template <>
void PowLoop(int64_t n, const double* x1, const double* x2, double* y) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] = math::Pow(x1[i], x2[i]);
    }
}
#endif

}  // namespace

template <class T>
void UnaryMathLoop(UnaryMath function, int64_t n, const T* x, T* y) {
    switch (function) {
#define CHAINERX_CASE(Name)               \
    case UnaryMath::k##Name:              \
        for (int64_t i = 0; i < n; ++i) { \
            y[i] = math::Name(x[i]);      \
        }                                 \
        return;
        CHAINERX_UNARY_MATH(CHAINERX_CASE)
#undef CHAINERX_CASE
#define CHAINERX_CASE(Name, kIsLog, fast, any)                                             \
    case UnaryMath::k##Name:                                                               \
        FastLoop<kIsLog>(                                                                  \
                n, x, y, [](T v) __attribute__((always_inline)) { return math::fast(v); }, \
                [](T v) __attribute__((always_inline)) { return math::any(v); });          \
        return;
        CHAINERX_CASE(Log, true, LogNormal, Log)
        CHAINERX_CASE(Log2, true, Log2Normal, Log2)
        CHAINERX_CASE(Log10, true, Log10Normal, Log10)
        CHAINERX_CASE(Sin, false, SinBounded, Sin)
        CHAINERX_CASE(Cos, false, CosBounded, Cos)
        CHAINERX_CASE(Tan, false, TanBounded, Tan)
#undef CHAINERX_CASE
        default:
            return;
    }
}

template <class T>
void BinaryMathLoop(BinaryMath function, int64_t n, const T* x1, int64_t step1, const T* x2, int64_t step2, T* y) {
    T number[kBlock];
    T copy[kBlock];
    if (step1 == 0 || step2 == 0) {
        for (T& v : number) {
            v = step1 == 0 ? *x1 : *x2;
        }
    }
    for (int64_t begin = 0; begin < n; begin += kBlock) {
        int64_t count = n - begin < kBlock ? n - begin : kBlock;
        const T* a = step1 == 0 ? number : x1 + begin;
        const T* b = step2 == 0 ? number : x2 + begin;
        T* to = y + begin;
        if (a == to || b == to) {
            __builtin_memcpy(copy, to, count * sizeof(T));
            a = a == to ? copy : a;
            b = b == to ? copy : b;
        }
        if (function == BinaryMath::kPow) {
            PowLoop(count, a, b, to);
        } else {
#pragma GCC ivdep
            for (int64_t i = 0; i < count; ++i) {
                to[i] = math::Atan2(a[i], b[i]);
            }
        }
    }
}

template void UnaryMathLoop<float>(UnaryMath, int64_t, const float*, float*);
template void UnaryMathLoop<double>(UnaryMath, int64_t, const double*, double*);
template void BinaryMathLoop<float>(BinaryMath, int64_t, const float*, int64_t, const float*, int64_t, float*);
template void BinaryMathLoop<double>(BinaryMath, int64_t, const double*, int64_t, const double*, int64_t, double*);

}  // namespace chainerx::native::CHAINERX_ISA
