from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, configuration, initializers, variable
from chainer.backend import using_device
from chainer.functions.math import matmul
from chainer.functions.util import forget
from chainer.link_hooks import _weight

if TYPE_CHECKING:
    from chainer.link import Link
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


def l2normalize(xp: Xp, v: NdArray, eps: float) -> NdArray:
    """Returns a vector scaled to unit length.

    Args:
        xp (module): Array module.
        v (:ref:`ndarray`): Vector.
        eps (float): Small value, added to the length.

    Returns:
        :ref:`ndarray`: Vector of the shape of ``v``.

    .. admonition:: Example

        >>> from chainer.link_hooks import spectral_normalization
        >>> spectral_normalization.l2normalize(np, np.array([3., 4.]), eps=0)
        array([0.6, 0.8])

    """
    return v / (xp.sqrt((v * v).sum()) + eps)


def update_approximate_vectors(
    weight_matrix: NdArray, u: NdArray, n_power_iteration: int, eps: float
) -> tuple[NdArray, NdArray]:
    """Improves approximate singular vectors with the power method.

    Args:
        weight_matrix (:ref:`ndarray`): Matrix.
        u (:ref:`ndarray`): Approximate first left singular vector.
        n_power_iteration (int): Number of steps, at least one.
        eps (float): Small value for the numerical stability.

    Returns:
        tuple: The first left and right singular vectors.

    .. admonition:: Example

        >>> from chainer.link_hooks import spectral_normalization
        >>> W = np.array([[3., 0.], [0., 1.]])
        >>> u, v = spectral_normalization.update_approximate_vectors(W, np.array([.6, .8]), 10, 0)
        >>> u.round(3), v.round(3)
        (array([1., 0.]), array([1., 0.]))

    """
    xp = backend.get_array_module(weight_matrix)
    for _ in range(n_power_iteration):
        v = l2normalize(xp, xp.dot(u, weight_matrix), eps)
        u = l2normalize(xp, xp.dot(weight_matrix, v), eps)
    return u, v


def calculate_max_singular_value(weight_matrix: VariableLike, u: NdArray, v: NdArray) -> Variable:
    r"""Returns the largest singular value as a differentiable variable.

    Args:
        weight_matrix (~chainer.Variable or :ref:`ndarray`): Matrix.
        u (:ref:`ndarray`): First left singular vector.
        v (:ref:`ndarray`): First right singular vector.

    Returns:
        ~chainer.Variable: Scalar :math:`u^\top W v`.

    .. admonition:: Example

        >>> from chainer.link_hooks import spectral_normalization
        >>> W = np.array([[3., 0.], [0., 1.]])
        >>> e = np.array([1., 0.])
        >>> spectral_normalization.calculate_max_singular_value(W, e, e)
        variable(3.)

    """
    return matmul.matmul(matmul.matmul(u, weight_matrix), v)


class SpectralNormalization(_weight.WeightHook):
    r"""Spectral normalization: divides a weight by its largest singular value.

    It approximates the singular value with power iterations, one step per call
    in training mode. They start from a vector that the link keeps as the
    persistent value ``W_u``. See T. Miyato et al., `Spectral Normalization for Generative
    Adversarial Networks <https://arxiv.org/abs/1802.05957>`_.

    Args:
        n_power_iteration (int): Number of power iterations per call.
        eps (float): Small value for the numerical stability.
        use_gamma (bool): If ``True``, multiplies the weight by a parameter
            ``gamma``, which starts as the largest singular value.
        factor (float): The resulting norm. If ``None``, one.
        weight_name (str): Name of the weight.
        name (str): Name of the hook.

    Attributes:
        u (:ref:`ndarray`): First left singular vector, as of the last call of the link.
        v (:ref:`ndarray`): First right singular vector, likewise.

    Raises:
        ValueError: ``n_power_iteration`` is not positive, or the link has no
            such weight when the hook is added.
        NotImplementedError: The hook is used in a ``with`` statement.

    .. admonition:: Example

        >>> from chainer.link_hooks import SpectralNormalization
        >>> W = np.array([[3, 0], [0, 1]], np.float32)
        >>> layer = L.Linear(2, 2, initialW=W).add_hook(SpectralNormalization(n_power_iteration=20))
        >>> layer(np.array([[3, 3]], np.float32)).array.round(3)
        array([[3., 1.]], dtype=float32)
        >>> layer.W  # is as it was, and trained
        variable W([[3., 0.],
                    [0., 1.]])

    """

    name = 'SpectralNormalization'
    _calls_kernels_only = True

    _gamma_name = 'gamma'
    u: NdArray
    v: NdArray

    def __init__(
        self,
        n_power_iteration: int = 1,
        eps: float = 1e-6,
        use_gamma: bool = False,
        factor: float | None = None,
        weight_name: str = 'W',
        name: str | None = None,
    ) -> None:
        if n_power_iteration < 1:
            raise ValueError(f'n_power_iteration must be positive, but is {n_power_iteration}')
        super().__init__(weight_name, name)
        self.n_power_iteration = n_power_iteration
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name: str = weight_name + '_u'
        self.axis: int = 0

    def added(self, link: Link | None) -> None:
        super().added(link)
        # Deconvolution filters have the output axis second.
        is_deconvolution = any('Deconvolution' in c.__name__ for c in type(link).__mro__)
        self.axis = 1 if is_deconvolution else 0
        if hasattr(link, self._gamma_name):  # of another weight
            self._gamma_name = f'{self.weight_name}_gamma'
        if getattr(link, self.weight_name).array is not None:
            self._prepare_parameters(link)

    def deleted(self, link: Link | None) -> None:
        names = [self.vector_name, self._gamma_name] if self.use_gamma else [self.vector_name]
        for name in names:
            if name in link.__dict__:
                delattr(link, name)

    def _prepare_parameters(self, link):
        lacks_u = not hasattr(link, self.vector_name)
        lacks_gamma = self.use_gamma and not hasattr(link, self._gamma_name)
        if not lacks_u and not lacks_gamma:
            return  # without the weight on the CPU
        W = getattr(link, self.weight_name)
        matrix: Any = self.reshape_W(backend.CpuDevice().send(W.array))
        device = link.device
        if lacks_u:
            u = numpy.random.normal(size=len(matrix)).astype(matrix.dtype)
            link.add_persistent(self.vector_name, device.send(u))
        if lacks_gamma:
            sigma = numpy.linalg.norm(matrix.astype(numpy.float64), 2)
            gamma = variable.Parameter(initializers.Constant(float(sigma), dtype=matrix.dtype), ())
            gamma.to_device(device)
            with link.init_scope():
                setattr(link, self._gamma_name, gamma)

    def reshape_W(self, W: VariableLike) -> VariableLike:
        """Returns the weight as a matrix with one row per output.

        Args:
            W (~chainer.Variable or :ref:`ndarray`): Weight.

        """
        if self.axis != 0:
            axes = (self.axis, *[i for i in range(W.ndim) if i != self.axis])
            W = W.transpose(axes)
        return W if W.ndim == 2 else W.reshape((W.shape[0], W.size // W.shape[0]))

    def normalize_weight(self, link: Link) -> Variable:
        """Returns the normalized weight.

        Args:
            link (chainer.Link): Link with the weight.

        """
        W = getattr(link, self.weight_name)
        u, v = forget.remember(lambda: self._update_vectors(link, W.array))
        sigma = calculate_max_singular_value(self.reshape_W(W), u, v)
        if self.factor is not None:
            sigma = sigma / self.factor
        if self.use_gamma:
            return W * (getattr(link, self._gamma_name) / sigma)
        return W / sigma

    def _update_vectors(self, link, W):
        matrix: Any = self.reshape_W(W)
        with using_device(link.device):
            u, v = update_approximate_vectors(
                matrix,
                getattr(link, self.vector_name),
                self.n_power_iteration,
                self.eps,
            )
        if configuration.config.train:
            # A new array, because graphs of earlier calls keep the old one.
            link.__dict__[self.vector_name] = u
        self.u, self.v = u, v
        return u, v

    def _transform(self, link):
        self._prepare_parameters(link)
        return self.normalize_weight(link)
