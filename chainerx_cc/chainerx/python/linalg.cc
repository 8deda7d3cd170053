// The functions of chainerx.linalg.

#include "chainerx/ops/factorization.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {
namespace {

constexpr const char* kSolveDoc = R"(Solves the linear equations :math:`a x = b`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
    b (~chainerx.ndarray): Right-hand sides: a vector of length :math:`n`, or matrices of shape
        :math:`(..., n, k)`. Leading dimensions broadcast.

Returns:
    ~chainerx.ndarray: Solutions.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.
    ~chainerx.ChainerxError: If a matrix is singular.)";

constexpr const char* kInvDoc = R"(Inverses of square matrices.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Inverses.

Raises:
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is singular.)";

constexpr const char* kPinvDoc = R"(Moore-Penrose pseudo-inverses of matrices.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
    rcond (float): Singular values below this fraction of the largest count as zero.

Returns:
    ~chainerx.ndarray: Pseudo-inverses, of shape :math:`(..., n, m)`.

Raises:
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.
    ~chainerx.ChainerxError: If an element is not finite.)";

constexpr const char* kQrDoc = R"(QR factorizations of matrices, :math:`a = q r`.

With :math:`k = \min(m, n)`, ``mode`` is ``'reduced'`` for factors of the shapes :math:`(..., m, k)` and
:math:`(..., k, n)`, ``'complete'`` for :math:`(..., m, m)` and :math:`(..., m, n)`, ``'r'`` for the second
reduced factor alone, or ``'raw'`` for the reflectors and their factors as LAPACK's ``geqrf`` gives them.
There are gradients for ``'reduced'`` and ``'r'``, and for ``'complete'`` when :math:`m \le n`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
    mode (str): ``'reduced'``, ``'complete'``, ``'r'`` or ``'raw'``.

Returns:
    tuple of ~chainerx.ndarray: ``q`` and ``r`` (for ``'r'``, ``r`` alone).

Raises:
    ValueError: If ``mode`` has no meaning.
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.)";

constexpr const char* kSvdDoc = R"(Singular value decompositions, :math:`a = u \, \mathrm{diag}(s) \, v^\top`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
    full_matrices (bool): Whether ``u`` and ``vt`` are square. Then there are gradients for
        square matrices only.
    compute_uv (bool): Whether ``u`` and ``vt`` are returned.

Returns:
    tuple of ~chainerx.ndarray: ``u``, ``s`` and ``vt``; or ``s`` alone.

Raises:
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.
    ~chainerx.ChainerxError: If an element is not finite.)";

constexpr const char* kCholeskyDoc =
        R"(Cholesky factorizations :math:`a = l l^\top` of symmetric positive definite matrices.

Only the lower triangles are read; the gradient is symmetric.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Lower triangular factors.

Raises:
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is not positive definite.)";

constexpr const char* kEighDoc = R"(Eigenvalues and eigenvectors of symmetric matrices.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``; the gradient is symmetric.

Returns:
    tuple of ~chainerx.ndarray: Eigenvalues in ascending order, and eigenvectors as columns.

Raises:
    ValueError: If ``UPLO`` has no meaning.
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If an element is not finite.)";

constexpr const char* kEigvalshDoc = R"(Eigenvalues of symmetric matrices; see :func:`eigh`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``.

Returns:
    ~chainerx.ndarray: Eigenvalues in ascending order.)";

constexpr const char* kSlogdetDoc = R"(Signs and logarithms of the absolute values of determinants.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    tuple of ~chainerx.ndarray: Signs, through which no gradient flows, and logarithms: 0 and
    minus infinity for a singular matrix.

Raises:
    ~chainerx.DimensionError: If the matrices are not square.)";

constexpr const char* kDetDoc = R"(Determinants of square matrices.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Determinants. The gradient needs matrices that are not singular.

Raises:
    ~chainerx.DimensionError: If the matrices are not square.)";

constexpr const char* kNormDoc = R"(Norms of vectors or matrices.

Without ``ord``, the square root of the sum of squares. For vectors, ``ord`` is a number :math:`p` for
:math:`(\sum |x_i|^p)^{1/p}`, infinity or minus infinity for the largest and the smallest absolute value, or 0
for the number of elements that are not zero. For matrices, it is ``'fro'``, ``'nuc'`` for the sum of singular
values, 2 or -2 for the largest or smallest of them, 1 or -1 for the largest or smallest sum of absolute values of a
column, and infinity or minus infinity for that of a row.

Args:
    x (~chainerx.ndarray): Array of real numbers.
    ord (float or str): Order of the norm.
    axis (int or pair of int): Axis of vectors, or axes of matrices. All by default.
    keepdims (bool): Whether the axes stay, with length one.

Returns:
    ~chainerx.ndarray: Norms.

Raises:
    ~chainerx.DimensionError: If ``ord`` has no meaning for this number of dimensions.
    ~chainerx.ChainerxError: If ``ord`` has no meaning for matrices.)";

PyRef PySvd(const Array& a, bool full_matrices, bool compute_uv) {
    return Check(compute_uv ? ToPython(Svd(a, full_matrices)) : ToPython(SingularValues(a)));
}

PyRef PyQr(const Array& a, QrMode mode) {
    std::tuple<Array, Array> out = Qr(a, mode);
    return Check(mode == QrMode::kR ? ToPython(std::get<1>(out)) : ToPython(out));
}

}  // namespace

void BindLinalg() {
    const char* family = "factorization";
    Bind<&Solve>({family, "linalg.solve", "a, b", kSolveDoc, false, "solve"});
    Bind<&Inverse>({family, "linalg.inv", "a", kInvDoc, false, "inverse"});
    Bind<&PseudoInverse>({family, "linalg.pinv", "a, rcond=1e-15", kPinvDoc, false, "svd"});
    Bind<&PyQr>({family, "linalg.qr", "a, mode='reduced'", kQrDoc, false, "qr solve"});
    Bind<&PySvd>({family, "linalg.svd", "a, full_matrices=True, compute_uv=True", kSvdDoc, false, "svd"});
    Bind<&Cholesky>({family, "linalg.cholesky", "a", kCholeskyDoc, false, "cholesky solve"});
    Bind<&Eigh>({family, "linalg.eigh", "a, UPLO='L'", kEighDoc, false, "eigh"});
    Bind<&Eigvalsh>({family, "linalg.eigvalsh", "a, UPLO='L'", kEigvalshDoc, false, "eigh"});
    Bind<&Slogdet>({family, "linalg.slogdet", "a", kSlogdetDoc, false, "slogdet inverse"});
    Bind<&Norm>({family, "linalg.norm", "x, ord=None, axis=None, keepdims=False", kNormDoc, false, "svd"});
    Bind<&Det>({family, "linalg.det", "a", kDetDoc, false, "slogdet inverse"});
}

}  // namespace chainerx::python
