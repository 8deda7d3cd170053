"""
Draw digits with a variational autoencoder
==========================================

A variational autoencoder (Kingma and Welling, 2014) learns to describe each digit by two numbers
and to draw it from them. A walk through the plane of these numbers then draws digits that nobody
wrote. The probabilities come from :mod:`chainer.distributions`.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L

np.random.seed(0)
x, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0])

# %%
# The model
# ---------
# The encoder gives a normal distribution of the two numbers ``z`` for each image, the decoder a
# normal distribution of the shade of each point for each ``z``. ``sample`` is differentiable by the
# parameters of the distribution.


class VAE(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.encoder = chainer.Sequential(L.Linear(64, 200), F.relu, L.Linear(200, 4))
            self.decoder = chainer.Sequential(
                L.Linear(2, 200),
                F.relu,
                L.Linear(200, 200),
                F.relu,
                L.Linear(200, 64),
                F.sigmoid,
            )

    def encode(self, x):
        mean, log_scale = F.split_axis(self.encoder(x), 2, axis=1)
        return D.Normal(mean, log_scale=log_scale)

    def decode(self, z):
        y = self.decoder(z)
        return D.Normal(y, np.full(y.shape, 0.2, y.dtype))

    def forward(self, x):
        q = self.encode(x)
        likelihood = F.sum(self.decode(q.sample()).log_prob(x), axis=1)
        prior = D.Normal(np.zeros(q.loc.shape, x.dtype), np.ones(q.loc.shape, x.dtype))
        divergence = F.sum(chainer.kl_divergence(q, prior), axis=1)
        return F.mean(divergence - likelihood)


# %%
# Training
# --------
# ``optimizer.update`` takes the function of the loss and its arguments: it calls the model,
# computes the gradients and updates the parameters.

model = VAE()
optimizer = chainer.optimizers.Adam(alpha=0.002).setup(model)
for epoch in range(1, 61):
    order = np.random.permutation(len(x))
    for i in range(0, len(x), 100):
        optimizer.update(model, x[order[i : i + 100]])
    if epoch % 15 == 0:
        with chainer.no_backprop_mode():
            print(f'epoch {epoch}, loss {float(model(x).array):.2f}')

# %%
# The plane of digits
# -------------------
# The means of ``z`` of all images, coloured by digit, which the model never saw:

with chainer.no_backprop_mode():
    z = model.encode(x).mean.array

fig, axis = plt.subplots(figsize=(5, 4))
points = axis.scatter(z[:, 0], z[:, 1], c=t, cmap='tab10', s=6)
axis.set(xlim=(-3, 3), ylim=(-3, 3), aspect='equal')
fig.colorbar(points, ax=axis, ticks=range(10))
fig.tight_layout()

# %%
# What the decoder draws at each place of the plane:

# sphinx_gallery_thumbnail_number = 2
grid = np.linspace(-2.2, 2.2, 16, dtype=np.float32)
places = np.stack(np.meshgrid(grid, grid[::-1]), axis=-1).reshape(-1, 2)
with chainer.no_backprop_mode():
    drawn = model.decode(places).mean.array.reshape(16, 16, 8, 8)

fig, axis = plt.subplots(figsize=(4.4, 4.4))
axis.imshow(drawn.transpose(0, 2, 1, 3).reshape(128, 128), cmap='gray_r', interpolation='bilinear')
axis.axis('off')
fig.tight_layout(pad=0)
