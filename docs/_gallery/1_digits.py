"""
Read handwritten digits
=======================

A convolutional network learns to read digits of 8 by 8 points, in a training loop written by hand.
The plots show the training and the digits that the network finds hardest.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(0)
train, test = chainer.datasets.get_digits(ndim=3)
x, t = chainer.dataset.concat_examples(train)
x_test, t_test = chainer.dataset.concat_examples(test)
print(x.shape, x.dtype, t.shape, t.dtype)

# %%
# The network
# -----------
# Links in a ``Sequential`` run one after the other. A size of ``None`` is taken from the first
# batch.

model = chainer.Sequential(
    L.Convolution2D(1, 32, ksize=3, pad=1),
    L.BatchNormalization(32),
    F.relu,
    lambda h: F.max_pooling_2d(h, 2),
    L.Convolution2D(32, 64, ksize=3, pad=1),
    L.BatchNormalization(64),
    F.relu,
    L.Linear(None, 10),
)

# %%
# Training
# --------
# Each epoch visits all images in a new order. ``using_config('train', False)`` makes batch
# normalization use the statistics of the training; ``no_backprop_mode`` records no graph.


def accuracy(x, t):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return float(F.accuracy(model(x), t).array)


optimizer = chainer.optimizers.Adam(alpha=0.003).setup(model)
losses, accuracies = [], []
for _ in range(8):
    order = np.random.permutation(len(x))
    for i in range(0, len(x), 50):
        batch = order[i : i + 50]
        loss = F.softmax_cross_entropy(model(x[batch]), t[batch])
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    accuracies.append(accuracy(x_test, t_test))
print('test accuracy', round(accuracies[-1], 3))

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.plot(losses, linewidth=1)
left.set(xlabel='iteration', ylabel='loss', yscale='log')
right.plot(range(1, len(accuracies) + 1), accuracies, marker='o')
right.set(xlabel='epoch', ylabel='test accuracy')
fig.tight_layout()

# %%
# The hardest digits
# ------------------
# The test images whose label the network finds least probable. Above each: what it reads, how sure
# it is, and the label in brackets.

# sphinx_gallery_thumbnail_number = 2

with chainer.using_config('train', False), chainer.no_backprop_mode():
    p = F.softmax(model(x_test)).array
p_label = p[np.arange(len(p)), t_test]

fig, axes = plt.subplots(2, 6, figsize=(9, 3.6))
for axis, i in zip(axes.flat, p_label.argsort()):
    axis.imshow(x_test[i, 0], cmap='gray_r')
    axis.set_title(f'{p[i].argmax()}  {p[i].max():.0%}  ({t_test[i]})', fontsize=9)
    axis.axis('off')
