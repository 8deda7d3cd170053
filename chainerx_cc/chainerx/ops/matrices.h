#pragma once

// What linear algebra does with stacks of matrices, the last two dimensions of arrays.

#include <algorithm>
#include <initializer_list>

#include "chainerx/core/array.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::matrices {

inline void CheckDtype(const char* name, const Array& a) {
    if (IsInexact(a.dtype()) && !IsHalf(a.dtype())) return;
    throw DtypeError{name, ": dtype must be float32, float64, complex64 or complex128, not ", a.dtype()};
}

inline void CheckMatrix(const char* name, const Array& a, bool square) {
    CheckDtype(name, a);
    if (a.ndim() < 2 || (square && a.shape()[a.ndim() - 2] != a.shape().back())) {
        throw DimensionError{name, ": a must be ", square ? "square matrices" : "matrices",
                             " in its last two dimensions, got shape ", a.shape()};
    }
}

inline int64_t Rows(const Array& a) { return a.shape()[a.ndim() - 2]; }
inline int64_t Columns(const Array& a) { return a.shape().back(); }

inline Shape Lead(const Array& a) { return Shape(a.shape().begin(), a.shape().end() - 2); }

inline Array EmptyStack(const Array& like, std::initializer_list<int64_t> sizes, Dtype dtype) {
    Shape shape = Lead(like);
    for (int64_t n : sizes) shape.push_back(n);
    return Empty(shape, dtype, like.device());
}
inline Array EmptyStack(const Array& like, std::initializer_list<int64_t> sizes) {
    return EmptyStack(like, sizes, like.dtype());
}
inline Array EmptyRealStack(const Array& like, std::initializer_list<int64_t> sizes) {
    return EmptyStack(like, sizes, ToRealDtype(like.dtype()));
}

using internal::KernelInput;

// Transposed matrices, and their complex conjugates: of real matrices the same.
inline Array T(const Array& a) { return Swapaxes(a, -1, -2); }
inline Array H(const Array& a) { return Conj(T(a)); }

inline Array Multiply3(const Array& a, const Array& b, const Array& c) { return Matmul(Matmul(a, b), c); }

// Vectors as columns.
inline Array AsColumn(const Array& v) { return ExpandDims(v, v.ndim()); }

// i Im(a).
inline Array ImaginaryPart(const Array& a) { return (a - Conj(a)) * Scalar{0.5}; }

// The sum of the gradients that exist.
class Total {
public:
    void Add(const Array& term) { sum_ = sum_ ? sum_ + term : term; }
    const Array& Get() const { return sum_; }

private:
    Array sum_;
};

}  // namespace chainerx::matrices
