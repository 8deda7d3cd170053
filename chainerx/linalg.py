"""Linear algebra: factorizations by LAPACK, with gradients of any order.

The factorizations run on NumPy views of native arrays; their gradients are written with
differentiable ChainerX routines. Formulas: Giles, An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation, 2008.
"""
import numpy

import chainerx
from chainerx import _core


def _is_lapack_available():
    """Returns whether the routines of this module can be used; LAPACK comes with NumPy."""
    return True


def _check(name, *arrays):
    for a in arrays:
        if not isinstance(a, chainerx.ndarray):
            raise TypeError(f'{name}: arguments must be chainerx.ndarray, not {type(a).__name__}')
        if a.dtype not in (numpy.float32, numpy.float64):
            raise chainerx.DtypeError(f'{name}: dtype must be float32 or float64, not {a.dtype}')


def _check_matrix(name, a, square=False):
    _check(name, a)
    if a.ndim != 2 or (square and a.shape[0] != a.shape[1]):
        kind = 'a square matrix' if square else 'a matrix'
        raise chainerx.DimensionError(f'{name}: a must be {kind}, got shape {a.shape}')


class _Factorization:
    """Node of the graph for one factorization.

    ``gradients(inputs, outputs, grads)`` gives the gradient of each input; ``grads`` are zeros
    where an output has no gradient.
    """

    def __init__(self, label, gradients):
        self.label = label
        self._gradients = gradients

    def _backward_chainerx(self, targets, grads, inputs, outputs):
        grads = [chainerx.zeros_like(y) if g is None else g for y, g in zip(outputs, grads)]
        gradients = self._gradients(inputs, outputs, grads)
        return tuple([gradients[i] for i in targets])


def _apply(name, compute, gradients, *inputs):
    """Computes outputs on NumPy views and connects them to the graphs of the inputs."""
    views = [chainerx.to_numpy(a.as_grad_stopped(), copy=False) for a in inputs]
    try:
        outputs = compute(*views)
    except numpy.linalg.LinAlgError as error:
        raise chainerx.ChainerxError(f'{name}: {error}') from None
    device = inputs[0].device
    outputs = [chainerx.array(y, device=device) for y in outputs]
    return _core._function_node_forward(
        _Factorization(name, gradients), list(inputs), outputs, list(range(len(inputs))),
        list(range(len(outputs))))


def _sum(*terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _dot(*factors):
    product = factors[0]
    for factor in factors[1:]:
        product = chainerx.dot(product, factor)
    return product


def _eye_like(a, n):
    return chainerx.eye(n, dtype=a.dtype, device=a.device)


def solve(a, b):
    """Solves the linear equations :math:`a x = b`.

    Args:
        a (~chainerx.ndarray): Square matrix, float32 or float64.
        b (~chainerx.ndarray): Vector or matrix of right-hand sides.

    Returns:
        ~chainerx.ndarray: Solution, of the shape of ``b``.

    Raises:
        ~chainerx.DimensionError: If the shapes do not fit.
        ~chainerx.ChainerxError: If the matrix is singular.

    """
    _check_matrix('solve', a, square=True)
    _check('solve', b)
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0] or b.dtype != a.dtype:
        raise chainerx.DimensionError(
            f'solve: b of shape {b.shape} and {b.dtype} does not fit a of shape {a.shape} and '
            f'{a.dtype}')

    def gradients(inputs, outputs, grads):
        gb = solve(inputs[0].T, grads[0])
        x, g = (v if v.ndim == 2 else v.reshape(len(v), 1) for v in (outputs[0], gb))
        return -_dot(g, x.T), gb

    return _apply('solve', lambda a, b: [numpy.linalg.solve(a, b)], gradients, a, b)[0]


def inv(a):
    """Inverse of a square matrix.

    Args:
        a (~chainerx.ndarray): Square matrix, float32 or float64.

    Returns:
        ~chainerx.ndarray: Inverse.

    Raises:
        ~chainerx.DimensionError: If ``a`` is not a square matrix.
        ~chainerx.ChainerxError: If the matrix is singular.

    """
    _check_matrix('inv', a, square=True)

    def gradients(inputs, outputs, grads):
        y = outputs[0].T
        return -_dot(y, grads[0], y),

    return _apply('inv', lambda a: [numpy.linalg.inv(a)], gradients, a)[0]


def pinv(a, rcond=1e-15):
    """Moore-Penrose pseudo-inverse of a matrix.

    Args:
        a (~chainerx.ndarray): Matrix, float32 or float64.
        rcond (float): Singular values below this fraction of the largest count as zero.

    Returns:
        ~chainerx.ndarray: Pseudo-inverse, of shape :math:`(n, m)` for :math:`(m, n)`.

    Raises:
        ~chainerx.DimensionError: If ``a`` is not a matrix.

    """
    _check_matrix('pinv', a)

    def gradients(inputs, outputs, grads):
        # Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
        # problems whose variables separate, 1973.
        (x,), (p,), (g,) = inputs, outputs, grads
        m, n = x.shape
        left = _eye_like(x, m) - _dot(x, p)
        right = _eye_like(x, n) - _dot(p, x)
        return _sum(-_dot(p.T, g, p.T), _dot(left, g.T, p, p.T), _dot(p.T, p, g.T, right)),

    return _apply('pinv', lambda a: [numpy.linalg.pinv(a, rcond)], gradients, a)[0]


def qr(a, mode='reduced'):
    """QR factorization of a matrix, :math:`a = q r`.

    Args:
        a (~chainerx.ndarray): Matrix of shape :math:`(m, n)`, float32 or float64.
        mode (str): ``'reduced'``, ``'complete'``, ``'r'`` or ``'raw'``. Only the first has
            gradients, for :math:`m \\ge n`.

    Returns:
        tuple of ~chainerx.ndarray: ``q`` and ``r`` (for ``'r'``, ``r`` alone).

    Raises:
        ValueError: If ``mode`` has no meaning.
        ~chainerx.DimensionError: If ``a`` is not a matrix.

    """
    if mode not in ('reduced', 'complete', 'r', 'raw'):
        raise ValueError(f"qr: mode must be 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
    _check_matrix('qr', a)

    def gradients(inputs, outputs, grads):
        if mode != 'reduced' or inputs[0].shape[0] < inputs[0].shape[1]:
            raise chainerx.ChainerxError(
                'qr: gradients exist for mode="reduced" and at least as many rows as columns only')
        (q, r), (gq, gr) = outputs, grads
        m = _dot(r, gr.T) - _dot(gq.T, q)
        lower = chainerx.tril(m)
        symmetric = lower + chainerx.tril(m, -1).T
        return _dot(gq + _dot(q, symmetric), inv(r).T),

    def compute(a):
        result = numpy.linalg.qr(a, mode)
        return [result] if mode == 'r' else list(result)

    outputs = _apply('qr', compute, gradients, a)
    return outputs[0] if mode == 'r' else tuple(outputs)


def svd(a, full_matrices=True, compute_uv=True):
    """Singular value decomposition, :math:`a = u \\, \\mathrm{diag}(s) \\, v^\\top`.

    Args:
        a (~chainerx.ndarray): Matrix of shape :math:`(m, n)`, float32 or float64.
        full_matrices (bool): Whether ``u`` and ``vt`` are square. Then there are gradients for
            square matrices only.
        compute_uv (bool): Whether ``u`` and ``vt`` are returned.

    Returns:
        tuple of ~chainerx.ndarray: ``u``, ``s`` and ``vt``; or ``s`` alone.

    Raises:
        ~chainerx.DimensionError: If ``a`` is not a matrix.

    """
    _check_matrix('svd', a)
    if not compute_uv:
        return svd(a, full_matrices=False)[1]

    def gradients(inputs, outputs, grads):
        (u, s, vt), (gu, gs, gvt) = outputs, grads
        m, n = inputs[0].shape
        if full_matrices and m != n:
            raise chainerx.ChainerxError(
                'svd: with full_matrices=True gradients exist for square matrices only')
        k = len(s)
        eye = _eye_like(s, k)
        squares = s * s
        # 1 / (s_j^2 - s_i^2), zero on the diagonal.
        f = (1 - eye) / (squares.reshape(1, k) - squares.reshape(k, 1) + eye)
        row, col = s.reshape(1, k), s.reshape(k, 1)
        ju, jv = f * _dot(u.T, gu), f * _dot(vt, gvt.T)
        inner = (ju + ju.T) * row + col * (jv + jv.T) + eye * gs.reshape(1, k)
        gradient = _dot(u, inner, vt)
        if m > k:
            gradient = gradient + _dot(_eye_like(s, m) - _dot(u, u.T), gu / row, vt)
        if n > k:
            gradient = gradient + _dot(u, gvt / col, _eye_like(s, n) - _dot(vt.T, vt))
        return gradient,

    return tuple(_apply('svd', lambda a: list(numpy.linalg.svd(a, full_matrices)), gradients, a))


def cholesky(a):
    """Cholesky factorization :math:`a = l l^\\top` of a symmetric positive definite matrix.

    Only the lower triangle is read; the gradient is symmetric.

    Args:
        a (~chainerx.ndarray): Square matrix, float32 or float64.

    Returns:
        ~chainerx.ndarray: Lower triangular factor.

    Raises:
        ~chainerx.DimensionError: If ``a`` is not a square matrix.
        ~chainerx.ChainerxError: If the matrix is not positive definite.

    """
    _check_matrix('cholesky', a, square=True)

    def gradients(inputs, outputs, grads):
        (y,), (g,) = outputs, grads
        middle = chainerx.tril(_dot(y.T, g))
        middle = middle - _eye_like(y, len(y)) * middle * 0.5
        inverse = inv(y)
        gx = _dot(inverse.T, middle, inverse)
        return (gx + gx.T) * 0.5,

    return _apply('cholesky', lambda a: [numpy.linalg.cholesky(a)], gradients, a)[0]


def _check_uplo(name, UPLO):
    if UPLO not in ('L', 'U'):
        raise ValueError(f"{name}: UPLO must be 'L' or 'U', not {UPLO!r}")


def eigh(a, UPLO='L'):
    """Eigenvalues and eigenvectors of a symmetric matrix.

    Args:
        a (~chainerx.ndarray): Square matrix, float32 or float64.
        UPLO (str): Triangle that is read, ``'L'`` or ``'U'``; the gradient is symmetric.

    Returns:
        tuple of ~chainerx.ndarray: Eigenvalues in ascending order, and eigenvectors as columns.

    Raises:
        ValueError: If ``UPLO`` has no meaning.
        ~chainerx.DimensionError: If ``a`` is not a square matrix.

    """
    _check_uplo('eigh', UPLO)
    _check_matrix('eigh', a, square=True)

    def gradients(inputs, outputs, grads):
        (w, v), (gw, gv) = outputs, grads
        n = len(w)
        eye = _eye_like(w, n)
        f = (1 - eye) / (w.reshape(1, n) - w.reshape(n, 1) + eye)
        gx = _dot(v, eye * gw.reshape(1, n) + f * _dot(v.T, gv), v.T)
        return (gx + gx.T) * 0.5,

    return tuple(_apply('eigh', lambda a: list(numpy.linalg.eigh(a, UPLO)), gradients, a))


def eigvalsh(a, UPLO='L'):
    """Eigenvalues of a symmetric matrix; see :func:`eigh`.

    Args:
        a (~chainerx.ndarray): Square matrix, float32 or float64.
        UPLO (str): Triangle that is read, ``'L'`` or ``'U'``.

    Returns:
        ~chainerx.ndarray: Eigenvalues in ascending order.

    """
    return eigh(a, UPLO)[0]
