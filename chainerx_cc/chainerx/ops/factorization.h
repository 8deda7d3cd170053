#pragma once

#include <optional>
#include <tuple>
#include <variant>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

enum class QrMode {
    kReduced,   // q (m, k) and r (k, n) with k = min(m, n)
    kComplete,  // q (m, m) and r (m, n)
    kR,         // r (k, n) alone
    kRaw,       // reflectors (n, m) and their factors (k), as LAPACK's geqrf gives them
};
CHAINERX_ENUM_WORDS(QrMode, "reduced", "complete", "r", "raw");

// The triangle of a symmetric matrix that is read.
enum class Triangle { kLower, kUpper };
CHAINERX_ENUM_WORDS(Triangle, "L", "U");

// What a factorization q r gives; no array for what is not wanted.
struct QrOutput {
    Array q;
    Array r;
    Array reflectors;
    Array factors;
};

template <>
struct KeptArgument<QrOutput>
    : KeptStructure<QrOutput, &QrOutput::q, &QrOutput::r, &QrOutput::reflectors, &QrOutput::factors> {
    using KeptStructure::KeptStructure;
};

// Kernels. Arrays are contiguous stacks of matrices with equal leading dimensions, of one dtype: float32 or float64, or
// complex64 or complex128 with singular values, eigenvalues and logarithms of their parts' dtype.
// They raise ChainerxError for a matrix without a solution.
using SolveKernel = KernelSlot<void(const Array& a, const Array& b, const Array& x)>;
using InverseKernel = KernelSlot<void(const Array& a, const Array& out)>;
using SlogdetKernel = KernelSlot<void(const Array& a, const Array& sign, const Array& logdet)>;
// `u` and `vt` are no arrays when only the singular values are wanted; their shapes tell whether they are square.
using SvdKernel = KernelSlot<void(const Array& a, const Array& u, const Array& s, const Array& vt)>;
using QrKernel = KernelSlot<void(const Array& a, const QrOutput& out)>;
using CholeskyKernel = KernelSlot<void(const Array& a, const Array& out)>;
// `v` is no array when only the eigenvalues are wanted.
using EighKernel = KernelSlot<void(const Array& a, Triangle triangle, const Array& w, const Array& v)>;
extern const SolveKernel kSolveKernel;
extern const InverseKernel kInverseKernel;
extern const SlogdetKernel kSlogdetKernel;
extern const SvdKernel kSvdKernel;
extern const QrKernel kQrKernel;
extern const CholeskyKernel kCholeskyKernel;
extern const EighKernel kEighKernel;

// All take matrices, or stacks of them in the last two dimensions, of float32, float64, complex64 or complex128, and
// have gradients of any order where they are differentiable.

// a x = b for square a. `b` is a vector or matrices; leading dimensions broadcast.
Array Solve(const Array& a, const Array& b);
Array Inverse(const Array& a);
// Singular values below `rcond` times the largest count as zero.
Array PseudoInverse(const Array& a, double rcond = 1e-15);
// u, s and vt with a = u diag(s) vt, where vt is the conjugate transpose of v. With full matrices, gradients exist for
// square ones only.
std::tuple<Array, Array, Array> Svd(const Array& a, bool full_matrices = true);
Array SingularValues(const Array& a);
// q and r; for kRaw the reflectors and factors, for kR no array and r. Gradients exist for what is unique: reduced
// factors and r, and complete factors of matrices with no more rows than columns.
std::tuple<Array, Array> Qr(const Array& a, QrMode mode = QrMode::kReduced);
// Both factorizations as NumPy has them: an argument decides whether there is one result or several.
std::variant<Array, std::tuple<Array, Array, Array>> NumpySvd(const Array& a, bool full_matrices = true,
                                                              bool compute_uv = true);
std::variant<Array, std::tuple<Array, Array>> NumpyQr(const Array& a, QrMode mode = QrMode::kReduced);
// Lower triangular l with a = l l^H; reads the lower triangle. The gradient is symmetric or Hermitian.
Array Cholesky(const Array& a);
// Eigenvalues of symmetric or Hermitian matrices in ascending order, and eigenvectors as columns. So is the gradient.
std::tuple<Array, Array> Eigh(const Array& a, Triangle triangle = Triangle::kLower);
Array Eigvalsh(const Array& a, Triangle triangle = Triangle::kLower);
// Hermitian p with p a p = 1, for Hermitian matrices with positive eigenvalues. So is the gradient.
Array InverseSqrt(const Array& a);
// Sign, and logarithm of the absolute value, of determinants.
std::tuple<Array, Array> Slogdet(const Array& a);
Array Det(const Array& a);

// Which norm: of vectors (sum |x|^p)^(1/p), of matrices the norm which that induces, for p = 1, 2 and infinity and
// their smallest counterparts -1, -2 and -infinity.
struct NormOrder {
    enum Kind { kDefault, kFrobenius, kNuclear, kNumber };
    NormOrder(Kind kind = kDefault) : kind{kind} {}  // NOLINT(runtime/explicit)
    NormOrder(double p) : kind{kNumber}, p{p} {}     // NOLINT(runtime/explicit)

    Kind kind;
    double p{2};
};

// Over one axis for vectors, two for matrices, all by default: the default order is the square root of the sum of
// squares.
Array Norm(const Array& a, const NormOrder& order = {}, const OptionalAxes& axis = std::nullopt, bool keepdims = false);

#define CHAINERX_FACTORIZATION_ROUTINES(X) \
    X(Solve)                               \
    X(Inverse)                             \
    X(PseudoInverse)                       \
    X(NumpyQr)                             \
    X(NumpySvd)                            \
    X(Cholesky)                            \
    X(Eigh)                                \
    X(Eigvalsh)                            \
    X(InverseSqrt)                         \
    X(Slogdet)                             \
    X(Norm)                                \
    X(Det)

CHAINERX_FACTORIZATION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
