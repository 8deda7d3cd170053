"""Optimizers, which update parameters."""

from __future__ import annotations

from ..registry import ARRAYS, operator

_TRAINING = 'ai.onnx.preview.training'


def _update(rate, t, tensors, kinds, decay, step):
    """Updates parameters: tensors have all parameters, then all gradients, then all states.

    ``step(rate, t, x, g, *states)`` gives a new parameter and its states; ``g`` includes the decay.
    """
    size = len(tensors) // kinds
    rows = zip(*(tensors[i * size : (i + 1) * size] for i in range(kinds)))
    updated = [
        tuple(y.astype(x.dtype) for y in step(rate, t, x, decay * x + g, *states))
        for x, g, *states in rows
    ]
    return tuple(y for column in zip(*updated) for y in column)


@operator('Adagrad', takes=ARRAYS, scalars=(0, 1), domain=_TRAINING)
def adagrad(rate, t, *tensors, decay_factor, epsilon, norm_coefficient):
    def step(rate, t, x, g, h):
        h = h + g * g
        return x - rate / (1 + t * decay_factor) * g / (h**0.5 + epsilon), h

    return _update(rate, t, tensors, 3, norm_coefficient, step)


@operator('Momentum', takes=ARRAYS, scalars=(0, 1), domain=_TRAINING)
def momentum(rate, t, *tensors, alpha, beta, mode, norm_coefficient):
    def step(rate, t, x, g, m):
        m = alpha * m + (beta if t > 0 else 1.0) * g
        return x - rate * (g + alpha * m if mode == 'nesterov' else m), m

    return _update(rate, t, tensors, 3, norm_coefficient, step)


@operator('Adam', takes=ARRAYS, scalars=(0, 1), domain=_TRAINING)
def adam(rate, t, *tensors, alpha, beta, epsilon, norm_coefficient, norm_coefficient_post):
    def step(rate, t, x, g, m, s):
        if t > 0:
            rate = rate * (1 - beta**t) ** 0.5 / (1 - alpha**t)
        m = alpha * m + (1 - alpha) * g
        s = beta * s + (1 - beta) * g * g
        return (1 - norm_coefficient_post) * (x - rate * m / (s**0.5 + epsilon)), m, s

    return _update(rate, t, tensors, 4, norm_coefficient, step)
