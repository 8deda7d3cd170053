// Linear equations, and what their factors give: inverses and determinants.

#include <algorithm>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/factorization.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/matrices.h"
#include "chainerx/ops/structured.h"

// The gradients are from Giles, An extended collection of matrix derivative results for forward and reverse mode
// algorithmic differentiation, 2008.

namespace chainerx {

using namespace matrices;  // NOLINT(build/namespaces)

const SolveKernel kSolveKernel{"solve", kTakesComplex};
const InverseKernel kInverseKernel{"inverse", kTakesComplex};
const SlogdetKernel kSlogdetKernel{"slogdet", kTakesComplex};

namespace {

// a (..., n, n) and b (..., n, k) of one dtype, with equal leading dimensions.
Array SolveStack(const Array& a, const Array& b) {
    Array x = Empty(b.shape(), b.dtype(), b.device());
    kSolveKernel(a.device(), KernelInput(a), KernelInput(b), x);
    if (GraphMask mask = internal::GetRecordMask({&a, &b})) {
        internal::Record("solve", mask, {&a, &b}, {&x},
                         [a = Saved{a}, x = Saved{x.AsDetached()}](BackwardContext& ctx) {
                             Array gb = SolveStack(H(a.Get()), ctx.grad());
                             if (ctx.IsWanted(0)) ctx.SetGrad(0, -Matmul(gb, H(ctx.RetainedOutput(x, 0))));
                             if (ctx.IsWanted(1)) ctx.SetGrad(1, gb);
                         });
    }
    return x;
}

Array BroadcastLead(const Array& a, Shape lead) {
    lead.push_back(Rows(a));
    lead.push_back(Columns(a));
    return a.shape() == lead ? a : BroadcastTo(a, lead);
}

}  // namespace

CHAINERX_ROUTINE(Solve, "linalg.solve", "a, b", "solve", R"(
Solves the linear equations :math:`a x = b`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.
    b (~chainerx.ndarray): Right-hand sides: a vector of length :math:`n`, or matrices of shape
        :math:`(..., n, k)`. Leading dimensions broadcast.

Returns:
    ~chainerx.ndarray: Solutions.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the shapes do not fit.
    ~chainerx.ChainerxError: If a matrix is singular.

>>> a = chainerx.array([[2., 0.], [1., 1.]])
>>> chainerx.linalg.solve(a, chainerx.array([4., 3.]))
array([2., 1.], shape=(2,), dtype=float64, device='native:0')
)");
Array Solve(const Array& a, const Array& b) {
    CheckMatrix("solve", a, true);
    CheckDevices(a, b);
    CheckDtype("solve", b);
    if (b.ndim() == 0 || b.shape()[std::max(b.ndim() - 2, 0)] != Rows(a)) {
        throw DimensionError{"solve: b of shape ", b.shape(), " does not fit a of shape ", a.shape()};
    }
    Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
    Array right = AsType(b.ndim() == 1 ? ExpandDims(b, 1) : b, dtype, false);
    Shape lead = BroadcastShapes(Lead(a), Lead(right));
    Array x = SolveStack(BroadcastLead(AsType(a, dtype, false), lead), BroadcastLead(right, lead));
    return b.ndim() == 1 ? Squeeze(x, Axes{-1}) : x;
}

CHAINERX_ROUTINE(Inverse, "linalg.inv", "a", "inverse", R"(
Inverses of square matrices.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.

Returns:
    ~chainerx.ndarray: Inverses.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is singular.

>>> chainerx.linalg.inv(chainerx.array([[2., 0.], [1., 1.]]))
array([[ 0.5,  0. ],
       [-0.5,  1. ]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array Inverse(const Array& a) {
    CheckMatrix("inv", a, true);
    Array out = EmptyStack(a, {Rows(a), Columns(a)});
    kInverseKernel(a.device(), KernelInput(a), out);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("inv", mask, {&a}, {&out}, [out = Saved{out.AsDetached()}](BackwardContext& ctx) {
            Array y = H(ctx.RetainedOutput(out, 0));
            ctx.SetGrad(0, -Multiply3(y, ctx.grad(), y));
        });
    }
    return out;
}

CHAINERX_ROUTINE(Slogdet, "linalg.slogdet", "a", "slogdet inverse", R"(
Signs and logarithms of the absolute values of determinants. The sign of a complex number :math:`z` is
:math:`z / |z|`.

Differentiable any number of times where the matrix is not singular.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.

Returns:
    tuple of ~chainerx.ndarray: Signs, through which a gradient flows only if they are complex, and real logarithms: 0
    and minus infinity for a singular matrix.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> sign, log = chainerx.linalg.slogdet(chainerx.array([[0., 1.], [2., 0.]]))
>>> float(sign), float(log)
(-1.0, 0.6931471805599453)
)");
std::tuple<Array, Array> Slogdet(const Array& a) {
    CheckMatrix("slogdet", a, true);
    Array sign = EmptyStack(a, {});
    Array logdet = EmptyRealStack(a, {});
    kSlogdetKernel(a.device(), KernelInput(a), sign, logdet);
    GraphMask mask = internal::GetRecordMask(a);
    if (mask != 0 && !IsComplex(a.dtype())) {
        internal::Record("slogdet", mask, {&a}, {&logdet}, [a = Saved{a}](BackwardContext& ctx) {
            ctx.SetGrad(0, AsColumn(AsColumn(ctx.grad())) * T(Inverse(a.Get())));
        });
    } else if (mask != 0) {
        // The sign is any number of the unit circle, so that it has a gradient, too: that of the angle.
        internal::Record("slogdet", mask, {&a}, {&logdet, &sign},
                         [a = Saved{a}, sign = Saved{sign.AsDetached()}](BackwardContext& ctx) {
                             Total g;
                             if (ctx.HasGrad(0)) g.Add(ctx.grad(0));
                             if (ctx.HasGrad(1)) {
                                 g.Add(ImaginaryPart(ctx.grad(1) * Conj(ctx.RetainedOutput(sign, 1))));
                             }
                             ctx.SetGrad(0, AsColumn(AsColumn(g.Get())) * H(Inverse(a.Get())));
                         });
    }
    return {sign, logdet};
}

CHAINERX_ROUTINE(Det, "linalg.det", "a", "slogdet inverse", R"(
Determinants of square matrices.

Differentiable any number of times where the matrix is not singular.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.

Returns:
    ~chainerx.ndarray: Determinants.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> chainerx.linalg.det(chainerx.array([[1., 2.], [3., 4.]]))
array(-2., shape=(), dtype=float64, device='native:0')
)");
Array Det(const Array& a) {
    auto [sign, logdet] = Slogdet(a);
    return sign * Exp(logdet);
}

}  // namespace chainerx
