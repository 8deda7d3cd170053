"""Loss scales, which keep small gradients in float16."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.models import saving

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer


class LossScaling:
    """Loss scale of an optimizer, constant or dynamic."""

    target: Any
    t: int

    # In the class, since optimizers of programs need not call a constructor of their base.
    _loss_scale = None
    _loss_scale_max = 65504.0  # the largest float16
    _loss_scaling_is_dynamic = False
    _loss_scaling_multiplier = 1.0
    _loss_scaling_isnan = False
    _loss_scaling_isnan_ever = False
    # Adds a number over the processes, where each one has a part of the parameters.
    _sum_over_parts: Callable[[float], float] | None = None

    def set_loss_scale(self, loss_scale: float) -> None:
        """Scales the loss to keep small gradients in float16.

        Args:
            loss_scale (float): The factor.

        """
        self.loss_scaling(scale=loss_scale)

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Scales the loss to keep small gradients in float16.

        The dynamic scale starts at one and grows. If a gradient is not finite, the
        update is skipped and the scale is halved; the first time with a warning.

        Args:
            interval (int): Number of updates until the dynamic scale doubles.
            scale (float): A constant scale. If ``None``, it is dynamic.

        """
        if scale is None:
            if interval < 1:
                raise ValueError(f'interval must be >= 1, but {interval} was given')
            # It soon finds its size: until the first overflow, it doubles at every update.
            self._loss_scale = 1.0
            self._loss_scaling_is_dynamic = True
            # A little at each update: the first overflow then comes at a scale that is hardly too
            # large, and half of it is safe for long.
            self._loss_scaling_multiplier = math.pow(2.0, 1.0 / interval)
            self._loss_scaling_isnan_ever = False
        else:
            if not scale > 0:
                raise ValueError(f'loss scale must be a positive number, but {scale} was given')
            self._loss_scale = scale
            self._loss_scaling_is_dynamic = False
        self._loss_scaling_isnan = False

    def check_nan_in_grads(self) -> None:
        """Looks for gradients that are not finite, if the loss scale is dynamic."""
        self._loss_scaling_isnan = False
        if not self._loss_scaling_is_dynamic:
            return
        for name, param in self.target.namedparams(False):
            if param.grad is not None and not all_finite(param.grad):
                if not self._loss_scaling_isnan_ever:
                    warnings.warn(
                        f'Non finite number found in param.grad of {name} (iteration: {self.t}, '
                        f'loss_scale: {self._loss_scale}). This update is skipped, as are later '
                        'ones with such gradients, of which there is no warning.',
                        stacklevel=3,
                    )
                self._loss_scaling_isnan = True
                self._loss_scaling_isnan_ever = True
                # One is enough to skip the update, and on a GPU each look waits for the device.
                break
        if self._sum_over_parts is not None:
            # All processes skip the same updates.
            is_nan = bool(self._sum_over_parts(float(self._loss_scaling_isnan)))
            self._loss_scaling_isnan = is_nan
            self._loss_scaling_isnan_ever |= is_nan

    def is_safe_to_update(self) -> bool:
        """Returns ``False`` if :meth:`check_nan_in_grads` found a gradient that is not finite."""
        return not self._loss_scaling_isnan

    def update_loss_scale(self) -> None:
        """Adapts the dynamic loss scale."""
        if not self._loss_scaling_is_dynamic:
            return
        if self._loss_scaling_isnan:
            multiplier = 0.5
        elif self._loss_scaling_isnan_ever:
            multiplier = self._loss_scaling_multiplier
        else:
            multiplier = 2.0  # the first overflow shows the right scale
        scale: Any = self._loss_scale  # a number, as loss scaling is on
        # A larger one would be infinite in float16, and one below 1 would lose small gradients that
        # no scale at all would keep.
        self._loss_scale = max(1.0, min(self._loss_scale_max, scale * multiplier))

    def _serialize_loss_scale(self, serializer: AbstractSerializer) -> None:
        # A constant scale is a setting of the program, as hyperparameters are.
        if self._loss_scaling_is_dynamic and saving.takes_extras(serializer):
            try:
                self._loss_scale = serializer('_loss_scale', self._loss_scale)
                self._loss_scaling_isnan_ever = serializer(
                    '_loss_scaling_isnan_ever', self._loss_scaling_isnan_ever
                )
            except KeyError:  # for example a file of Chainer 7
                pass


def all_finite(array: Any) -> bool:
    """Tells whether all elements of an array are finite."""
    return bool(backend.get_array_module(array).isfinite(array).all())
