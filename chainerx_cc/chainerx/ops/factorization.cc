#include "chainerx/ops/factorization.h"

#include <algorithm>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/matrices.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

// Unless noted otherwise, the gradients are from Giles, An extended collection of matrix derivative results for forward
// and reverse mode algorithmic differentiation, 2008.

namespace chainerx {

using namespace matrices;  // NOLINT(build/namespaces)

const SvdKernel kSvdKernel{"svd", kTakesComplex};
const QrKernel kQrKernel{"qr", kTakesComplex};
const CholeskyKernel kCholeskyKernel{"cholesky", kTakesComplex};
const EighKernel kEighKernel{"eigh", kTakesComplex};

namespace {

Array EyeLike(const Array& a, int64_t n) { return Eye(n, std::nullopt, 0, a.dtype(), a.device()); }

// Vectors as rows.
Array AsRow(const Array& v) { return ExpandDims(v, v.ndim() - 1); }

// Square matrices with the given diagonals.
Array MakeDiagonal(const Array& v) { return AsRow(v) * EyeLike(v, v.shape().back()); }

// 1 / (x_j - x_i), zero on the diagonal.
Array InverseGaps(const Array& x) {
    Array eye = EyeLike(x, x.shape().back());
    return (Scalar{1} - eye) / (AsRow(x) - AsColumn(x) + eye);
}

// The Hermitian part, for real matrices the symmetric one.
Array Symmetrize(const Array& a) { return (a + H(a)) * Scalar{0.5}; }

// x a^-1, by solving the transposed equations.
Array SolveRight(const Array& x, const Array& a) { return T(Solve(T(a), T(x))); }

// Without graphs; `vectors`: with u and vt.
std::tuple<Array, Array, Array> ComputeSvd(const Array& a, bool vectors, bool full_matrices) {
    int64_t m = Rows(a);
    int64_t n = Columns(a);
    int64_t k = std::min(m, n);
    Array u = vectors ? EmptyStack(a, {m, full_matrices ? m : k}) : Array{};
    Array s = EmptyRealStack(a, {k});
    Array vt = vectors ? EmptyStack(a, {full_matrices ? n : k, n}) : Array{};
    kSvdKernel(a.device(), KernelInput(a), u, s, vt);
    return {u, s, vt};
}

}  // namespace

std::tuple<Array, Array, Array> Svd(const Array& a, bool full_matrices) {
    CheckMatrix("svd", a, false);
    auto [u, s, vt] = ComputeSvd(a, true, full_matrices);
    GraphMask mask = internal::GetRecordMask(a);
    if (mask == 0) return {u, s, vt};
    bool unique = !full_matrices || Rows(a) == Columns(a);
    internal::Record(
            "svd", mask, {&a}, {&u, &s, &vt},
            [unique, ku = Saved{u.AsDetached()}, ks = Saved{s.AsDetached()},
             kvt = Saved{vt.AsDetached()}](BackwardContext& ctx) {
                if (!unique) {
                    throw ChainerxError{"svd: with full_matrices=True gradients exist for square matrices only"};
                }
                Array u = ctx.RetainedOutput(ku, 0);
                Array s = ctx.RetainedOutput(ks, 1);
                Array vt = ctx.RetainedOutput(kvt, 2);
                Total inner;
                Total outer;
                // Gradients of values alone are finite for equal ones.
                if (ctx.HasGrad(1)) inner.Add(MakeDiagonal(ctx.grad(1)));
                if (ctx.HasGrad(0)) {
                    const Array& gu = ctx.grad(0);
                    Array projected = Matmul(H(u), gu);
                    Array j = InverseGaps(s * s) * projected;
                    inner.Add((j + H(j)) * AsRow(s));
                    if (IsComplex(u.dtype())) {
                        // The phases of u follow those of vt.
                        inner.Add(MakeDiagonal(ImaginaryPart(Diagonal(projected, 0, -2, -1)) / s));
                    }
                    if (Rows(u) > Columns(u)) outer.Add(Matmul((gu - Matmul(u, projected)) / AsRow(s), vt));
                }
                if (ctx.HasGrad(2)) {
                    const Array& gvt = ctx.grad(2);
                    Array projected = Matmul(gvt, H(vt));
                    Array j = InverseGaps(s * s) * H(projected);
                    inner.Add((j + H(j)) * AsColumn(s));
                    if (Columns(vt) > Rows(vt)) {
                        outer.Add(Matmul(u, (gvt - Matmul(projected, vt)) / AsColumn(s)));
                    }
                }
                outer.Add(Multiply3(u, inner.Get(), vt));
                ctx.SetGrad(0, outer.Get());
            });
    return {u, s, vt};
}

Array SingularValues(const Array& a) {
    CheckMatrix("svd", a, false);
    return std::get<1>(internal::GetRecordMask(a) == 0 ? ComputeSvd(a, false, false) : Svd(a, false));
}

CHAINERX_ROUTINE(NumpySvd, "linalg.svd", "a, full_matrices=True, compute_uv=True", "svd", R"(
Singular value decompositions, :math:`a = u \, \mathrm{diag}(s) \, v^\mathrm{H}`.

For real matrices, :math:`v^\mathrm{H}` is :math:`v^\top`. Differentiable any number of times; gradients of ``u`` and
``vt`` need singular values that differ, and for complex matrices a loss that does not depend on the phases of the
vectors: with :math:`u_k` and :math:`v_k`, also :math:`e^{i \varphi} u_k` and :math:`e^{i \varphi} v_k` are some.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64, or complex.
    full_matrices (bool): Whether ``u`` and ``vt`` are square. Then there are gradients for
        square matrices only.
    compute_uv (bool): Whether ``u`` and ``vt`` are returned.

Returns:
    tuple of ~chainerx.ndarray: ``u``, ``s`` and ``vt``, which is :math:`v^\mathrm{H}`; or ``s`` alone. The singular
    values ``s`` are real.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.
    ~chainerx.ChainerxError: If an element is not finite.

>>> a = chainerx.array([[3., 0.], [0., 4.], [0., 0.]])
>>> u, s, vt = chainerx.linalg.svd(a, full_matrices=False)
>>> s
array([4., 3.], shape=(2,), dtype=float64, device='native:0')
>>> chainerx.testing.assert_allclose((u * s).dot(vt), a, atol=1e-12)
)");
std::variant<Array, std::tuple<Array, Array, Array>> NumpySvd(const Array& a, bool full_matrices, bool compute_uv) {
    if (compute_uv) return Svd(a, full_matrices);
    return SingularValues(a);
}

CHAINERX_ROUTINE(PseudoInverse, "linalg.pinv", "a, rcond=1e-15", "svd", R"(
Moore-Penrose pseudo-inverses of matrices.

Differentiable any number of times where the rank does not change.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64, or complex.
    rcond (float): Singular values below this fraction of the largest count as zero.

Returns:
    ~chainerx.ndarray: Pseudo-inverses, of shape :math:`(..., n, m)`.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.
    ~chainerx.ChainerxError: If an element is not finite.

>>> chainerx.linalg.pinv(chainerx.array([[2., 0.], [0., 0.]]))
array([[0.5, 0. ],
       [0. , 0. ]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array PseudoInverse(const Array& a, double rcond) {
    CheckMatrix("pinv", a, false);
    if (Rows(a) == 0 || Columns(a) == 0) return Reshape(a, T(a).shape());
    auto [u, s, vt] = ComputeSvd(a, true, false);
    Array used = Greater(s, AMax(s, Axes{-1}, true) * Scalar{rcond});
    Array inverses = Where(used, Reciprocal(Where(used, s, Scalar{1})), Scalar{0});
    Array out = AsContiguous(Matmul(H(vt), AsColumn(inverses) * H(u)));
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record(
                "pinv", mask, {&a}, {&out}, [a = Saved{a}, out = Saved{out.AsDetached()}](BackwardContext& ctx) {
                    // Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
                    // problems whose variables separate, 1973.
                    const Array& x = a.Get();
                    Array p = ctx.RetainedOutput(out, 0);
                    Array ph = H(p);
                    Array gh = H(ctx.grad());
                    Array g1 = Matmul(gh, Matmul(p, ph));
                    Array g2 = Matmul(Matmul(ph, p), gh);
                    ctx.SetGrad(
                            0, (g1 - Multiply3(x, p, g1)) + (g2 - Multiply3(g2, p, x)) - Multiply3(ph, ctx.grad(), ph));
                });
    }
    return out;
}

namespace {

// Reduced factors of matrices with at least as many rows as columns.
std::tuple<Array, Array> ReducedQr(const Array& a) {
    QrOutput out;
    out.q = EmptyStack(a, {Rows(a), Columns(a)});
    out.r = EmptyStack(a, {Columns(a), Columns(a)});
    kQrKernel(a.device(), KernelInput(a), out);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("qr", mask, {&a}, {&out.q, &out.r},
                         [kq = Saved{out.q.AsDetached()}, kr = Saved{out.r.AsDetached()}](BackwardContext& ctx) {
                             Array q = ctx.RetainedOutput(kq, 0);
                             Array r = ctx.RetainedOutput(kr, 1);
                             Total m;
                             if (ctx.HasGrad(1)) m.Add(Matmul(r, H(ctx.grad(1))));
                             if (ctx.HasGrad(0)) m.Add(-Matmul(H(ctx.grad(0)), q));
                             // The diagonal of r is real.
                             Array diagonal = MakeDiagonal(Real(Diagonal(m.Get(), 0, -2, -1)));
                             Array lower = Tril(m.Get(), -1);
                             Total g;
                             if (ctx.HasGrad(0)) g.Add(ctx.grad(0));
                             g.Add(Matmul(q, lower + diagonal + H(lower)));
                             ctx.SetGrad(0, SolveRight(g.Get(), H(r)));
                         });
    }
    return {out.q, out.r};
}

// The columns [start, stop) of matrices.
Array TakeColumns(const Array& a, int64_t start, int64_t stop) { return At(a, {Ellipsis{}, Slice{start, stop, {}}}); }

}  // namespace

std::tuple<Array, Array> Qr(const Array& a, QrMode mode) {
    CheckMatrix("qr", a, false);
    int64_t m = Rows(a);
    int64_t n = Columns(a);
    int64_t k = std::min(m, n);
    GraphMask mask = internal::GetRecordMask(a);
    bool has_gradient = mode == QrMode::kReduced || mode == QrMode::kR || (mode == QrMode::kComplete && m <= n);
    if (mask != 0 && has_gradient) {
        // q comes from the first columns alone, so the other columns of r are products.
        auto [q, r] = ReducedQr(m < n ? TakeColumns(a, 0, m) : a);
        if (m < n) r = Concatenate({r, Matmul(H(q), TakeColumns(a, m, n))}, -1);
        return {mode == QrMode::kR ? Array{} : q, r};
    }
    QrOutput out;
    if (mode == QrMode::kRaw) {
        out.reflectors = EmptyStack(a, {n, m});
        out.factors = EmptyStack(a, {k});
    } else {
        int64_t inner = mode == QrMode::kComplete ? m : k;
        if (mode != QrMode::kR) out.q = EmptyStack(a, {m, inner});
        out.r = EmptyStack(a, {inner, n});
    }
    kQrKernel(a.device(), KernelInput(a), out);
    std::tuple<Array, Array> result{out.q, out.r};
    if (mode == QrMode::kRaw) result = {out.reflectors, out.factors};
    if (mask != 0) {
        internal::Record("qr", mask, {&a}, {&std::get<0>(result), &std::get<1>(result)}, [](BackwardContext&) {
            throw ChainerxError{
                    "qr: gradients exist for the modes 'reduced' and 'r', and for 'complete' with no more rows than "
                    "columns"};
        });
    }
    return result;
}

CHAINERX_ROUTINE(NumpyQr, "linalg.qr", "a, mode='reduced'", "qr solve", R"(
QR factorizations of matrices, :math:`a = q r`. The diagonal of :math:`r` is real.

With :math:`k = \min(m, n)`, ``mode`` is ``'reduced'`` for factors of the shapes :math:`(..., m, k)` and
:math:`(..., k, n)`, ``'complete'`` for :math:`(..., m, m)` and :math:`(..., m, n)`, ``'r'`` for the second
reduced factor alone, or ``'raw'`` for the reflectors and their factors as LAPACK's ``geqrf`` gives them.
Differentiable any number of times for ``'reduced'`` and ``'r'``, and for ``'complete'`` when :math:`m \le n`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64, or complex.
    mode (str): ``'reduced'``, ``'complete'``, ``'r'`` or ``'raw'``.

Returns:
    tuple of ~chainerx.ndarray: ``q`` and ``r`` (for ``'r'``, ``r`` alone).

Raises:
    @lapack_error
    ValueError: If ``mode`` has no meaning.
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.

>>> a = chainerx.array([[3., 1.], [4., 2.]])
>>> q, r = chainerx.linalg.qr(a)
>>> chainerx.testing.assert_allclose(q.dot(r), a, rtol=1e-12)
>>> q.shape, r.shape
((2, 2), (2, 2))
)");
std::variant<Array, std::tuple<Array, Array>> NumpyQr(const Array& a, QrMode mode) {
    std::tuple<Array, Array> out = Qr(a, mode);
    if (mode == QrMode::kR) return std::get<1>(out);
    return out;
}

CHAINERX_ROUTINE(Cholesky, "linalg.cholesky", "a", "cholesky solve", R"(
Cholesky factorizations :math:`a = l l^\mathrm{H}` of symmetric or Hermitian positive definite matrices.

Only the lower triangles are read; the gradient is symmetric or Hermitian.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.

Returns:
    ~chainerx.ndarray: Lower triangular factors.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is not positive definite.

>>> chainerx.linalg.cholesky(chainerx.array([[4., 2.], [2., 5.]]))
array([[2., 0.],
       [1., 2.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array Cholesky(const Array& a) {
    CheckMatrix("cholesky", a, true);
    Array out = EmptyStack(a, {Rows(a), Columns(a)});
    kCholeskyKernel(a.device(), KernelInput(a), out);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("cholesky", mask, {&a}, {&out}, [out = Saved{out.AsDetached()}](BackwardContext& ctx) {
            // Murray, Differentiation of the Cholesky decomposition, 2016.
            Array y = ctx.RetainedOutput(out, 0);
            Array half = EyeLike(y, Rows(y)) * Scalar{0.5};
            Array middle = Tril(Matmul(H(y), ctx.grad())) * (Scalar{1} - half);
            ctx.SetGrad(0, Symmetrize(SolveRight(Solve(H(y), middle), y)));
        });
    }
    return out;
}

namespace {

std::tuple<Array, Array> ComputeEigh(const Array& a, Triangle triangle, bool vectors) {
    Array w = EmptyRealStack(a, {Columns(a)});
    Array v = vectors ? EmptyStack(a, {Rows(a), Columns(a)}) : Array{};
    kEighKernel(a.device(), KernelInput(a), triangle, w, v);
    return {w, v};
}

}  // namespace

CHAINERX_ROUTINE(Eigh, "linalg.eigh", "a, UPLO='L'", "eigh", R"(
Eigenvalues and eigenvectors of symmetric or Hermitian matrices.

Differentiable any number of times; gradients of eigenvectors need eigenvalues that differ, and for complex matrices a
loss that does not depend on the phases of the vectors.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``, in upper or lower case; the gradient is symmetric or
        Hermitian.

Returns:
    tuple of ~chainerx.ndarray: Eigenvalues in ascending order, which are real, and eigenvectors as columns.

Raises:
    @lapack_error
    ValueError: If ``UPLO`` has no meaning.
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If an element is not finite.

>>> a = chainerx.array([[2., 1.], [1., 2.]])
>>> w, v = chainerx.linalg.eigh(a)
>>> w
array([1., 3.], shape=(2,), dtype=float64, device='native:0')
>>> chainerx.testing.assert_allclose(a.dot(v), v * w, rtol=1e-12)
)");
std::tuple<Array, Array> Eigh(const Array& a, Triangle triangle) {
    CheckMatrix("eigh", a, true);
    auto [w, v] = ComputeEigh(a, triangle, true);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("eigh", mask, {&a}, {&w, &v},
                         [kw = Saved{w.AsDetached()}, kv = Saved{v.AsDetached()}](BackwardContext& ctx) {
                             Array w = ctx.RetainedOutput(kw, 0);
                             Array v = ctx.RetainedOutput(kv, 1);
                             Total inner;
                             // Gradients of values alone are finite for equal ones.
                             if (ctx.HasGrad(0)) inner.Add(MakeDiagonal(ctx.grad(0)));
                             if (ctx.HasGrad(1)) inner.Add(InverseGaps(w) * Matmul(H(v), ctx.grad(1)));
                             ctx.SetGrad(0, Symmetrize(Multiply3(v, inner.Get(), H(v))));
                         });
    }
    return {w, v};
}

CHAINERX_ROUTINE(Eigvalsh, "linalg.eigvalsh", "a, UPLO='L'", "eigh", R"(
Eigenvalues of symmetric or Hermitian matrices; see :func:`eigh`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64, or complex.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``, in upper or lower case.

Returns:
    ~chainerx.ndarray: Eigenvalues in ascending order.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> chainerx.linalg.eigvalsh(chainerx.array([[2., 1.], [1., 2.]]))
array([1., 3.], shape=(2,), dtype=float64, device='native:0')
)");
Array Eigvalsh(const Array& a, Triangle triangle) {
    CheckMatrix("eigvalsh", a, true);
    return std::get<0>(internal::GetRecordMask(a) == 0 ? ComputeEigh(a, triangle, false) : Eigh(a, triangle));
}

namespace {

// Solutions x of r x + x r = c for Hermitian matrices, r with positive eigenvalues.
Array SolveSylvester(const Array& r, const Array& c) {
    auto [d, e] = ComputeEigh(r, Triangle::kLower, true);
    Array x = Multiply3(e, Multiply3(H(e), c.AsDetached(), e) / (AsColumn(d) + AsRow(d)), H(e));
    if (GraphMask mask = internal::GetRecordMask({&r, &c})) {
        internal::Record("sylvester", mask, {&r, &c}, {&x},
                         [kr = Saved{r}, kx = Saved{x.AsDetached()}](BackwardContext& ctx) {
                             Array gc = SolveSylvester(kr.Get(), Symmetrize(ctx.grad()));
                             if (ctx.IsWanted(0)) {
                                 Array x = ctx.RetainedOutput(kx, 0);
                                 ctx.SetGrad(0, -(Matmul(gc, x) + Matmul(x, gc)));
                             }
                             if (ctx.IsWanted(1)) ctx.SetGrad(1, gc);
                         });
    }
    return x;
}

}  // namespace

CHAINERX_ROUTINE(InverseSqrt, "_inverse_sqrt", "a", "eigh", "Inverse square roots of positive definite matrices.");
Array InverseSqrt(const Array& a) {
    CheckMatrix("_inverse_sqrt", a, true);
    auto [d, e] = ComputeEigh(a, Triangle::kLower, true);
    Array out = Matmul(e / AsRow(Sqrt(d)), H(e));
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("_inverse_sqrt", mask, {&a}, {&out}, [kp = Saved{out.AsDetached()}](BackwardContext& ctx) {
            // From dp p + p dp = -a^-1 da a^-1: equal eigenvalues, at which eigh has no gradient, do not matter.
            Array p = ctx.RetainedOutput(kp, 0);
            Array inverse = Matmul(p, p);
            ctx.SetGrad(0, -Multiply3(inverse, SolveSylvester(p, Symmetrize(ctx.grad())), inverse));
        });
    }
    return out;
}

}  // namespace chainerx
