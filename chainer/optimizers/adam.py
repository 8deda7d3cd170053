from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise
from chainer.optimizers import _adam_rule
from chainer.optimizers._adam_rule import AdamRule as AdamRule

if TYPE_CHECKING:
    from chainer.optimizer import UpdateRule


class Adam(optimizer.GradientMethod):
    r"""Adam, and its variants AMSGrad, AdaBound and decoupled weight decay.

    .. math::

        m &\leftarrow \beta_1 m + (1 - \beta_1) g \\
        v &\leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        \alpha_t &= \alpha \sqrt{1 - \beta_2^t} / (1 - \beta_1^t) \\
        p &\leftarrow p - \eta \left( \frac{\alpha_t m}{\sqrt{v} + \epsilon}
            + \lambda p \right)

    AMSGrad uses the maximum of all past :math:`v`. AdaBound clips
    :math:`\alpha_t / (\sqrt{v} + \epsilon)` between the bounds
    :math:`l (1 - 1 / (\gamma t + 1))` and :math:`l (1 + 1 / (\gamma t))`. Here
    :math:`l` is ``final_lr``, scaled by the ratio of ``alpha`` to its first
    value.

    See `Adam: A Method for Stochastic Optimization
    <https://arxiv.org/abs/1412.6980>`_, `On the Convergence of Adam and Beyond
    <https://openreview.net/forum?id=ryQu7f-RZ>`_, `Adaptive Gradient Methods
    with Dynamic Bound of Learning Rate <https://arxiv.org/abs/1902.09843>`_ and
    `Decoupled Weight Decay Regularization <https://arxiv.org/abs/1711.05101>`_.

    Args:
        alpha (float): Coefficient of the learning rate, :math:`\alpha`.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, :math:`\eta`, for warm restarts.
        weight_decay_rate (float): Weight decay rate, :math:`\lambda`, which :math:`\alpha` does
            not multiply.
        amsgrad (bool): Whether to use AMSGrad.
        adabound (bool): Whether to use AdaBound.
        final_lr (float): Final learning rate of AdaBound.
        gamma (float): Convergence speed of AdaBound's bounds.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.Adam(alpha=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.8004

    """

    alpha: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('alpha')
    beta1: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('beta1')
    beta2: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('beta2')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')
    eta: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eta')
    weight_decay_rate: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy(
        'weight_decay_rate'
    )
    amsgrad: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('amsgrad')
    adabound: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('adabound')
    final_lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('final_lr')
    gamma: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('gamma')

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
        weight_decay_rate: float = 0,
        amsgrad: bool = False,
        adabound: bool = False,
        final_lr: float = 0.1,
        gamma: float = 0.001,
    ) -> None:
        given = _elementwise.arguments_of(locals())
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, **given)

    def create_update_rule(self) -> UpdateRule:
        return AdamRule(self.hyperparam)

    @property
    def alpha_t(self) -> float:
        """Learning rate with the bias correction at the current step.

        Raises:
            RuntimeError: If there was no update yet.

        """
        return _adam_rule.alpha_t(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """Deprecated name of :attr:`alpha_t`."""
        _adam_rule.warn_of_lr('Adam')
        return self.alpha_t


class AdamW(Adam):
    """Adam with decoupled weight decay.

    See :class:`~chainer.optimizers.Adam`. The decay is ``eta * weight_decay_rate`` per step, for
    any learning rate. Other libraries multiply it by the learning rate: their ``weight_decay=0.01``
    with the rate 0.001 is ``weight_decay_rate=0.00001`` here. Schedules of ``alpha`` leave the
    decay alone, schedules of ``eta`` scale both.

    Args:
        alpha (float): Coefficient of the learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier.
        weight_decay_rate (float): Weight decay of a step, not multiplied by the learning rate.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AdamW(alpha=0.1, weight_decay_rate=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.6212

    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
        weight_decay_rate: float = 0,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, weight_decay_rate)


class AMSGrad(Adam):
    """AMSGrad, a variant of Adam that never forgets large gradients.

    See :class:`~chainer.optimizers.Adam`.

    Args:
        alpha (float): Coefficient of the learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AMSGrad(alpha=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.8004

    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True)


class AdaBound(Adam):
    """AdaBound, a variant of Adam that turns into SGD.

    See :class:`~chainer.optimizers.Adam`.

    Args:
        alpha (float): Coefficient of the learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        final_lr (float): Final learning rate.
        gamma (float): Convergence speed of the bounds.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AdaBound(alpha=0.1, final_lr=0.01, gamma=10).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.9938

    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        final_lr: float = 0.1,
        gamma: float = 0.001,
        eps: float = 1e-8,
        eta: float = 1.0,
    ) -> None:
        super().__init__(
            alpha, beta1, beta2, eps, eta, adabound=True, final_lr=final_lr, gamma=gamma
        )


class AMSBound(Adam):
    """AMSBound: AMSGrad with the bounds of AdaBound.

    See :class:`~chainer.optimizers.Adam`.

    Args:
        alpha (float): Coefficient of the learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        final_lr (float): Final learning rate.
        gamma (float): Convergence speed of the bounds.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AMSBound(alpha=0.1, final_lr=0.01, gamma=10).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.9938

    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        final_lr: float = 0.1,
        gamma: float = 0.001,
        eps: float = 1e-8,
        eta: float = 1.0,
    ) -> None:
        super().__init__(
            alpha,
            beta1,
            beta2,
            eps,
            eta,
            amsgrad=True,
            adabound=True,
            final_lr=final_lr,
            gamma=gamma,
        )
