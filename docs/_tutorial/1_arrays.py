"""
1. Arrays and gradients
=======================

Deep learning fits functions to data by their gradients. This page computes gradients and fits a
curve with them.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F

# %%
# Arrays
# ------
# Chainer computes with arrays of NumPy. A :class:`chainer.Variable` holds an array and remembers
# how it was computed. ``float32`` is the dtype that models use.

x = chainer.Variable(np.array([1, 2, 3], dtype=np.float32))
y = x**2 + 2 * x
print(y)
print(y.array, y.shape, y.dtype)

# %%
# Functions
# ---------
# Operators, methods and the functions of :mod:`chainer.functions` take variables and arrays, and
# return variables.

loss = F.sum(F.sin(x) * y)
print(loss)

# %%
# Gradients
# ---------
# ``backward`` goes back through the record of a number and computes its derivatives by all
# variables that it came from:

loss.backward()
print(x.grad)

# %%
# Compare the first with a difference quotient:


def f(x):
    return np.sin(x) * (x**2 + 2 * x)


print((f(1 + 1e-6) - f(1 - 1e-6)) / 2e-6)

# %%
# The record is made while the program runs, so loops and conditions need nothing special. This
# function takes another number of steps for each input, and has a gradient all the same:


def halve(x):
    steps = 0
    while x.array > 1:
        x = x / 2
        steps += 1
    return x, steps


x = chainer.Variable(np.array(10, dtype=np.float32))
y, steps = halve(x)
y.backward()
print(y.array, 'after', steps, 'steps; derivative', x.grad)

# %%
# Fit a curve
# -----------
# Some noisy points of a curve:

np.random.seed(0)
xs = np.linspace(-2, 2, 40, dtype=np.float32)
ys = np.sin(2 * xs) + 0.15 * np.random.randn(40).astype(np.float32)

# %%
# We look for a polynomial through them. Its coefficients are a :class:`chainer.Parameter`, a
# variable to be learned. The loss is the mean squared distance from the points. Each step computes
# the loss and its gradient, and moves the coefficients a little against the gradient, which makes
# the loss smaller: this is *gradient descent*.

powers = np.stack([(xs / 2) ** i for i in range(8)], axis=1)
coefficients = chainer.Parameter(np.zeros((8, 1), dtype=np.float32))

losses = []
for _ in range(3000):
    curve = F.matmul(powers, coefficients)[:, 0]
    loss = F.mean_squared_error(curve, ys)
    coefficients.cleargrad()
    loss.backward()
    coefficients.array -= 0.3 * coefficients.grad
    losses.append(float(loss.array))
print('loss', round(losses[0], 3), 'at first,', round(losses[-1], 3), 'at last')

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.plot(losses)
left.set(xlabel='step', ylabel='loss', yscale='log')
right.plot(xs, ys, 'o', label='data')
right.plot(xs, curve.array, label='fitted')
right.legend(frameon=False)
fig.tight_layout()

# %%
# Gradients add up until they are cleared, hence ``cleargrad`` in each step. The next page has many
# parameters, and leaves this work to links and optimizers. More about this page's topic:
# :doc:`/guides/variables`.
