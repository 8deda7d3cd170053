#pragma once

// The documentation of products and of chainerx.linalg; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kDot = R"(
Sum product over the last axis of ``a`` and the last but one of ``b``.

.. math:: y_{i \dots j \dots k} = \sum_l a_{i \dots l} \, b_{j \dots l k}

The inner product of vectors, the product of matrices; a zero-dimensional array scales the other one.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    b (~chainerx.ndarray): Array whose axis before the last one (of a vector: the only one) is as long as the last
        one of ``a``.

Returns:
    ~chainerx.ndarray: Products, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the axes differ in length.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.dot(x, chainerx.array([1., 10.]))
array([21., 43.], shape=(2,), dtype=float64, device='native:0')
>>> x.dot(x)
array([[ 7., 10.],
       [15., 22.]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kMatmul = R"(
Matrix product :math:`a b` of the last two axes; also the operator ``@``.

The other axes broadcast. A vector counts as a row on the left and as a column on the right, and that axis is removed
from the result.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, k)`, or a vector of length :math:`k`.
    b (~chainerx.ndarray): Matrices of shape :math:`(..., k, n)`, or a vector of length :math:`k`.

Returns:
    ~chainerx.ndarray: Matrices of shape :math:`(..., m, n)`, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit, or an array has no dimensions.

>>> a = chainerx.ones((5, 2, 3))
>>> b = chainerx.ones((3, 4))
>>> (a @ b).shape
(5, 2, 4)
)";

constexpr const char* kInner = R"(
Sum product over the last axes, :math:`y_{i \dots j \dots} = \sum_l a_{i \dots l} \, b_{j \dots l}`.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays whose last axes have one length; a zero-dimensional array scales the other one.

Returns:
    ~chainerx.ndarray: Products, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the last axes differ in length.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.inner(x, x)
array([[ 5., 11.],
       [11., 25.]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kVdot = R"(
Sum product over all elements, :math:`\sum_i a_i b_i`.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of equal size, in any shapes.

Returns:
    ~chainerx.ndarray: Array without dimensions, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the sizes differ.

>>> chainerx.vdot(chainerx.array([[1., 2.]]), chainerx.array([3., 4.]))
array(11., shape=(), dtype=float64, device='native:0')
)";

constexpr const char* kTrace = R"(
Sum over a diagonal of two axes, :math:`\sum_i a_{i, i + k}` for an offset :math:`k`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of at least two dimensions, of any dtype.
    offset (int): Distance from the main diagonal; positive above it.
    axis1, axis2 (int): Axes of rows and columns.

Returns:
    ~chainerx.ndarray: Sums, without the two axes. Integers and booleans are summed in int64.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions, or an axis is out of range or given twice.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.trace(x)
array(5., shape=(), dtype=float64, device='native:0')
>>> float(x.trace(offset=1))
2.0
)";

constexpr const char* kOuter = R"(
Matrix of the products :math:`y_{ij} = a_i b_j` of the elements of two flattened arrays.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of any shapes.

Returns:
    ~chainerx.ndarray: Matrix, in the promoted dtype.

>>> chainerx.outer(chainerx.array([1., 2.]), chainerx.array([1., 10., 100.]))
array([[  1.,  10., 100.],
       [  2.,  20., 200.]], shape=(2, 3), dtype=float64, device='native:0')
)";

constexpr const char* kKron = R"(
Kronecker product: blocks of ``b``, scaled by the elements of ``a``.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays. The one of fewer dimensions gets axes of length one at the front.

Returns:
    ~chainerx.ndarray: Array whose lengths are products of those of ``a`` and ``b``, in the promoted dtype.

>>> chainerx.kron(chainerx.array([1., 10.]), chainerx.array([[1., 2.], [3., 4.]]))
array([[ 1.,  2., 10., 20.],
       [ 3.,  4., 30., 40.]], shape=(2, 4), dtype=float64, device='native:0')
)";

constexpr const char* kLinear = R"(
Affine map :math:`y = x W^\top + b`.

Axes of ``x`` after the first ``n_batch_axis`` are flattened. Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N_1, ..., I_1, ...)`.
    W (~chainerx.ndarray): Weights of shape :math:`(O, I)`; may also be given as the keyword ``w``.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    n_batch_axis (int): Number of axes of ``x`` that stay; may also be given as the keyword ``n_batch_axes``.

Returns:
    ~chainerx.ndarray: Array of shape :math:`(N_1, ..., O)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.ones((2, 3))
>>> chainerx.linear(x, chainerx.eye(3, dtype='float32'), chainerx.array([0, 1, 2], 'float32'))
array([[1., 2., 3.],
       [1., 2., 3.]], shape=(2, 3), dtype=float32, device='native:0')
)";

constexpr const char* kTensordot = R"(
Sum product over several axes of two arrays.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of any dtype.
    axes (int or pair): A number of axes: the last ones of ``a`` and the first ones of ``b``; or a pair of axes, or of
        lists of axes, of ``a`` and of ``b``.

Returns:
    ~chainerx.ndarray: Array with the other axes of ``a``, then those of ``b``, in the promoted dtype.

Raises:
    ValueError: If ``axes`` is of another form.
    ~chainerx.DimensionError: If the axes do not fit.

>>> a = chainerx.ones((2, 3, 4))
>>> b = chainerx.ones((4, 3, 5))
>>> chainerx.tensordot(a, b, axes=([1, 2], [1, 0])).shape
(2, 5)
)";

constexpr const char* kEinsum = R"(
Einstein summation: products of elements, summed over labels that are not in the result.

Called as ``einsum(subscripts, *operands)``, or with arrays and lists of labels by turns, as NumPy's function.
``subscripts`` has a letter for each axis of each operand, and those of the result after ``->``; without them, the
labels that occur once, in alphabetic order. Three dots stand for axes that broadcast. A label that an operand has
twice takes its diagonal.

Differentiable any number of times.

Args:
    *operands: Subscripts (str) and arrays (:class:`chainerx.ndarray`), or arrays and lists of labels.
    optimize: Has no effect: the order of products is always chosen.

Returns:
    ~chainerx.ndarray: Array with an axis for each label of the result, in the promoted dtype.

Raises:
    ~chainerx.ChainerxError: If the subscripts cannot be understood.
    ~chainerx.DimensionError: If subscripts do not fit the shapes.

>>> a = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.einsum('ij,jk->ik', a, a)
array([[ 7., 10.],
       [15., 22.]], shape=(2, 2), dtype=float64, device='native:0')
>>> chainerx.einsum('ii', a)
array(5., shape=(), dtype=float64, device='native:0')
)";

constexpr const char* kSolve = R"(
Solves the linear equations :math:`a x = b`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
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
)";

constexpr const char* kInv = R"(
Inverses of square matrices.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Inverses.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is singular.

>>> chainerx.linalg.inv(chainerx.array([[2., 0.], [1., 1.]]))
array([[ 0.5,  0. ],
       [-0.5,  1. ]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kPinv = R"(
Moore-Penrose pseudo-inverses of matrices.

Differentiable any number of times where the rank does not change.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
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
)";

constexpr const char* kQr = R"(
QR factorizations of matrices, :math:`a = q r`.

With :math:`k = \min(m, n)`, ``mode`` is ``'reduced'`` for factors of the shapes :math:`(..., m, k)` and
:math:`(..., k, n)`, ``'complete'`` for :math:`(..., m, m)` and :math:`(..., m, n)`, ``'r'`` for the second
reduced factor alone, or ``'raw'`` for the reflectors and their factors as LAPACK's ``geqrf`` gives them.
Differentiable any number of times for ``'reduced'`` and ``'r'``, and for ``'complete'`` when :math:`m \le n`.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
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
)";

constexpr const char* kSvd = R"(
Singular value decompositions, :math:`a = u \, \mathrm{diag}(s) \, v^\top`.

Differentiable any number of times; gradients of ``u`` and ``vt`` need singular values that differ.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, float32 or float64.
    full_matrices (bool): Whether ``u`` and ``vt`` are square. Then there are gradients for
        square matrices only.
    compute_uv (bool): Whether ``u`` and ``vt`` are returned.

Returns:
    tuple of ~chainerx.ndarray: ``u``, ``s`` and ``vt``; or ``s`` alone.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If ``a`` has less than two dimensions.
    ~chainerx.ChainerxError: If an element is not finite.

>>> a = chainerx.array([[3., 0.], [0., 4.], [0., 0.]])
>>> u, s, vt = chainerx.linalg.svd(a, full_matrices=False)
>>> s
array([4., 3.], shape=(2,), dtype=float64, device='native:0')
>>> chainerx.testing.assert_allclose((u * s).dot(vt), a, atol=1e-12)
)";

constexpr const char* kCholesky = R"(
Cholesky factorizations :math:`a = l l^\top` of symmetric positive definite matrices.

Only the lower triangles are read; the gradient is symmetric.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Lower triangular factors.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.
    ~chainerx.ChainerxError: If a matrix is not positive definite.

>>> chainerx.linalg.cholesky(chainerx.array([[4., 2.], [2., 5.]]))
array([[2., 0.],
       [1., 2.]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kEigh = R"(
Eigenvalues and eigenvectors of symmetric matrices.

Differentiable any number of times; gradients of eigenvectors need eigenvalues that differ.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``; the gradient is symmetric.

Returns:
    tuple of ~chainerx.ndarray: Eigenvalues in ascending order, and eigenvectors as columns.

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
)";

constexpr const char* kEigvalsh = R"(
Eigenvalues of symmetric matrices; see :func:`eigh`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.
    UPLO (str): Triangle that is read, ``'L'`` or ``'U'``.

Returns:
    ~chainerx.ndarray: Eigenvalues in ascending order.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> chainerx.linalg.eigvalsh(chainerx.array([[2., 1.], [1., 2.]]))
array([1., 3.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kSlogdet = R"(
Signs and logarithms of the absolute values of determinants.

Differentiable any number of times where the matrix is not singular.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    tuple of ~chainerx.ndarray: Signs, through which no gradient flows, and logarithms: 0 and
    minus infinity for a singular matrix.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> sign, log = chainerx.linalg.slogdet(chainerx.array([[0., 1.], [2., 0.]]))
>>> float(sign), float(log)
(-1.0, 0.6931471805599453)
)";

constexpr const char* kDet = R"(
Determinants of square matrices.

Differentiable any number of times where the matrix is not singular.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., n, n)`, float32 or float64.

Returns:
    ~chainerx.ndarray: Determinants.

Raises:
    @lapack_error
    ~chainerx.DimensionError: If the matrices are not square.

>>> chainerx.linalg.det(chainerx.array([[1., 2.], [3., 4.]]))
array(-2., shape=(), dtype=float64, device='native:0')
)";

constexpr const char* kNorm = R"(
Norms of vectors or matrices.

Without ``ord``, the square root of the sum of squares. For vectors, ``ord`` is a number :math:`p` for
:math:`(\sum |x_i|^p)^{1/p}`, infinity or minus infinity for the largest and the smallest absolute value, or 0
for the number of elements that are not zero. For matrices, it is ``'fro'``, ``'nuc'`` for the sum of singular
values, 2 or -2 for the largest or smallest of them, 1 or -1 for the largest or smallest sum of absolute values of a
column, and infinity or minus infinity for that of a row.

Differentiable any number of times where the norm is smooth.

Args:
    x (~chainerx.ndarray): Array of real numbers.
    ord (float or str): Order of the norm.
    axis (int or pair of int): Axis of vectors, or axes of matrices. All by default.
    keepdims (bool): Whether the axes stay, with length one.

Returns:
    ~chainerx.ndarray: Norms.

Raises:
    ~chainerx.DimensionError: If ``ord`` has no meaning for this number of dimensions.
    ~chainerx.ChainerxError: If ``ord`` has no meaning for matrices.

>>> x = chainerx.array([[3., -4.], [6., 8.]])
>>> chainerx.linalg.norm(x, axis=1)
array([ 5., 10.], shape=(2,), dtype=float64, device='native:0')
>>> float(chainerx.linalg.norm(x, 1))
12.0
)";

}  // namespace chainerx::python::docs
