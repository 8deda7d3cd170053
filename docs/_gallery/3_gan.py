"""
Draw digits with two networks that compete
==========================================

A generator draws digits from random numbers, and a critic tells drawn digits from real ones; each
learns from the other (Goodfellow et al., 2014). The loss is the hinge loss of Lim and Ye (2017),
and :class:`chainer.link_hooks.SpectralNormalization` keeps the critic smooth.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.link_hooks import SpectralNormalization

np.random.seed(0)
real, _ = chainer.dataset.concat_examples(chainer.datasets.get_digits(ndim=3)[0])

# %%
# Two networks
# ------------
# The generator doubles the size of its image with a deconvolution, the critic halves it with
# convolutions of stride 2.

generator = chainer.Sequential(
    L.Linear(32, 32 * 4 * 4, nobias=True),
    L.BatchNormalization(32 * 4 * 4),
    F.relu,
    lambda h: h.reshape(-1, 32, 4, 4),
    L.Deconvolution2D(32, 16, ksize=4, stride=2, pad=1, nobias=True),
    L.BatchNormalization(16),
    F.relu,
    L.Convolution2D(16, 1, ksize=3, pad=1),
    F.sigmoid,
)
critic = chainer.Sequential(
    L.Convolution2D(1, 24, ksize=4, stride=2, pad=1).add_hook(SpectralNormalization()),
    F.leaky_relu,
    L.Convolution2D(24, 32, ksize=4, stride=2, pad=1).add_hook(SpectralNormalization()),
    F.leaky_relu,
    L.Linear(32 * 2 * 2, 1).add_hook(SpectralNormalization()),
)


def draw(n):
    return generator(np.random.randn(n, 32).astype(np.float32))


# %%
# Training
# --------
# The critic learns to give real images a score above 1 and drawn ones a score below -1. Drawn
# images enter its loss as arrays, so this step does not change the generator. The generator then
# learns to draw images with high scores.

g_optimizer = chainer.optimizers.Adam(alpha=1e-3, beta1=0.5).setup(generator)
c_optimizer = chainer.optimizers.Adam(alpha=1e-3, beta1=0.5).setup(critic)


def critic_loss(batch):
    drawn = draw(len(batch)).array
    return F.mean(F.relu(1 - critic(batch))) + F.mean(F.relu(1 + critic(drawn)))


def generator_loss(n):
    return -F.mean(critic(draw(n)))


sketches = []
for epoch in range(1, 17):
    order = np.random.permutation(len(real))
    for i in range(0, len(real), 50):
        c_optimizer.update(critic_loss, real[order[i : i + 50]])
        g_optimizer.update(generator_loss, 50)
    if epoch in (1, 4, 8, 16):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            sketches.append((epoch, draw(36).array))

# %%
# Drawn digits
# ------------


def mosaic(images):
    return images.reshape(6, 6, 8, 8).transpose(0, 2, 1, 3).reshape(48, 48)


fig, axes = plt.subplots(1, 5, figsize=(10, 2.3))
sketches.append(('real', real[:36]))
for axis, (epoch, images) in zip(axes, sketches):
    axis.imshow(mosaic(images), cmap='gray_r')
    axis.set_title(epoch if epoch == 'real' else f'epoch {epoch}', fontsize=10)
    axis.axis('off')
fig.tight_layout()
