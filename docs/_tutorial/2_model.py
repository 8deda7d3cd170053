"""
2. A model
==========

A neural network is a function with many parameters. This page builds one of links and trains it to
tell two spirals apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(0)

# %%
# The data: points of two spirals, and to which of the two each belongs.

n = 300
turn = np.sqrt(np.random.rand(n)) * 9
label = np.random.randint(2, size=n).astype(np.int32)
x = np.stack([turn * np.cos(turn + np.pi * label), turn * np.sin(turn + np.pi * label)], axis=1)
x = (x / 5 + 0.05 * np.random.randn(n, 2)).astype(np.float32)
print(x.shape, x.dtype, label.shape, label.dtype)

# %%
# Links
# -----
# A *link* is a function with parameters. ``L.Linear(2, 3)`` multiplies by a matrix and adds a
# vector; both start at random:

linear = L.Linear(2, 3)
print(linear(x).shape)
for name, parameter in linear.namedparams():
    print(name, parameter.shape)

# %%
# A chain
# -------
# A model is a class of its own. It makes its links within ``init_scope``, which registers them, and
# ``forward`` says how they compute. This one has two hidden layers:


class Network(chainer.Chain):
    def __init__(self, n_hidden):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, n_hidden)
            self.l2 = L.Linear(n_hidden, n_hidden)
            self.l3 = L.Linear(n_hidden, 2)

    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


model = Network(64)
print(model(x).shape, model.count_params(), 'parameters')

# %%
# It gives two scores for each point; the higher one is its answer. ``F.softmax_cross_entropy``
# measures how far the scores are from the labels, ``F.accuracy`` counts the right answers:

y = model(x)
print(F.softmax_cross_entropy(y, label), F.accuracy(y, label))

# %%
# An optimizer
# ------------
# An *optimizer* holds a way to improve the parameters of a model. ``setup`` gives it the model.
# Then three lines make one step: clear the gradients, compute them, update the parameters.

optimizer = chainer.optimizers.Adam(alpha=0.01)
optimizer.setup(model)

losses = []
for _ in range(400):
    loss = F.softmax_cross_entropy(model(x), label)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    losses.append(float(loss.array))
print('accuracy', F.accuracy(model(x), label).array)

# %%
# What it learned
# ---------------
# The colours are the probability of the second spiral at each place. Nothing is to be learned here,
# so ``no_backprop_mode`` records no graph.

side = np.linspace(-2.2, 2.2, 200, dtype=np.float32)
places = np.stack(np.meshgrid(side, side), axis=-1)
with chainer.no_backprop_mode():
    p = F.softmax(model(places.reshape(-1, 2))).array[:, 1].reshape(200, 200)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(losses)
left.set(xlabel='step', ylabel='loss')
right.pcolormesh(side, side, p, cmap='RdBu', alpha=0.6)
right.scatter(*x.T, c=label, cmap='RdBu', s=12, edgecolors='k', linewidths=0.4)
right.set(aspect='equal', xticks=[], yticks=[])
fig.tight_layout()

# %%
# More about models: :doc:`/guides/links`; about optimizers: :doc:`/guides/optimizers`.
