"""The models of ``shapes.py`` in JAX."""

import jax
import jax.numpy as jnp
import numpy


def _weights(*shapes):
    rng = numpy.random.default_rng(0)
    return [jnp.asarray(rng.standard_normal(s).astype('f') / s[0] ** 0.5) for s in shapes]


def _cross_entropy(y, t):
    return -jnp.take_along_axis(jax.nn.log_softmax(y), t[:, None], 1).mean()


def perceptron():
    def loss(weights, x, t):
        w1, b1, w2, b2 = weights
        return _cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, t)

    return _weights((64, 64), (64,), (64, 10), (10,)), loss


def translator(words):
    def run(state, xs, weights):
        """Runs an LSTM; returns its last state and all outputs."""
        w, u, b = weights

        def step(state, x):
            c, h = state
            a, i, f, o = jnp.split(x @ w + h @ u + b, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(a)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (c, h), h

        return jax.lax.scan(step, state, xs)

    def loss(weights, xs, ys):
        embed, w, b = weights[0], weights[7], weights[8]
        zeros = jnp.zeros((xs.shape[1], 32), 'f')
        state, _ = run((zeros, zeros), embed[xs], weights[1:4])
        _, hs = run(state, embed[ys[:-1]], weights[4:7])
        return jax.vmap(_cross_entropy)(hs @ w + b, ys[1:]).sum()

    lstm = (32, 128), (32, 128), (128,)
    return _weights((words, 32), *lstm, *lstm, (32, words), (words,)), loss


def make_step(weights, loss_of):
    """Returns a step of Adam, compiled for each shape of its arguments."""

    @jax.jit
    def update(state, *batch):
        weights, means, squares, t = state
        grads = jax.grad(loss_of)(weights, *batch)
        t += 1
        rate = 0.001 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        means = [m + 0.1 * (g - m) for m, g in zip(means, grads)]
        squares = [v + 0.001 * (g * g - v) for v, g in zip(squares, grads)]
        weights = [w - rate * m / (jnp.sqrt(v) + 1e-8) for w, m, v in zip(weights, means, squares)]
        return weights, means, squares, t

    zeros = [jnp.zeros_like(w) for w in weights]
    state = weights, zeros, zeros, jnp.float32(0)

    def step(*batch):
        nonlocal state
        state = jax.block_until_ready(update(state, *batch))

    return step
