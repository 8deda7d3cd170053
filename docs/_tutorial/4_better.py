"""
4. A better model
=================

This page improves the network of the last page with convolutions, more data from the same images,
and a learning rate that falls, and looks at the mistakes that remain. To make the task harder, only
300 images are left for the training.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.datasets import TransformDataset

np.random.seed(0)
train, test = chainer.datasets.get_digits(ndim=3)  # one channel, 8 rows, 8 columns
train = train[:300]

# %%
# Augmentation
# ------------
# A digit that is moved by a point is the same digit. ``TransformDataset`` applies a function to an
# example each time it is read, so each epoch sees other images:


def augment(example):
    image, digit = example
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    y, x = np.random.randint(3, size=2)
    return padded[:, y : y + 8, x : x + 8], digit


augmented = TransformDataset(train, augment)

fig, axes = plt.subplots(1, 8, figsize=(9, 1.3))
for axis in axes:
    axis.imshow(augmented[0][0][0], cmap='gray_r')
    axis.axis('off')

# %%
# A convolutional network
# -----------------------
# A convolution looks at a small window and has the same parameters for each place of the image.
# Batch normalization keeps the values of each layer in the same range, dropout leaves out units at
# random. Both behave differently in training and in tests, which ``chainer.config.train`` tells
# them.


class Block(chainer.Chain):
    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.convolution = L.Convolution2D(n_in, n_out, ksize=3, pad=1, nobias=True)
            self.normalization = L.BatchNormalization(n_out)

    def forward(self, x):
        return F.relu(self.normalization(self.convolution(x)))


def make_network():
    return chainer.Sequential(
        Block(1, 32),
        Block(32, 32),
        lambda h: F.max_pooling_2d(h, 2),
        Block(32, 64),
        lambda h: F.dropout(h, 0.3),
        L.Linear(None, 10),
    )


# %%
# Training
# --------
# The learning rate falls along a cosine to zero: large steps at first, small ones at last.
# Called with the function of the loss and its arguments, ``update`` does the whole step.


def fit(network, dataset, n_epochs=30, alpha=0.004):
    model = L.Classifier(network)
    optimizer = chainer.optimizers.Adam(alpha).setup(model)
    iterator = chainer.iterators.SerialIterator(dataset, batch_size=50)
    accuracies = []
    while iterator.epoch < n_epochs:
        optimizer.alpha = alpha * (1 + np.cos(np.pi * iterator.epoch_detail / n_epochs)) / 2
        optimizer.update(model, *chainer.dataset.concat_examples(iterator.next()))
        if iterator.is_new_epoch:
            accuracies.append((predict(network)[1] == t_test).mean())
    return accuracies


x_test, t_test = chainer.dataset.concat_examples(test)


def predict(network):
    """Returns the probabilities of the digits, and the most probable ones."""
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        p = F.softmax(network(x_test)).array
    return p, p.argmax(axis=1)


plain = fit(make_network(), train)
network = make_network()
better = fit(network, augmented)
print(f'without augmentation {plain[-1]:.3f}, with it {better[-1]:.3f}')

# %%
fig, axis = plt.subplots(figsize=(6, 3))
axis.plot(range(1, 31), plain, label='plain')
axis.plot(range(1, 31), better, label='augmented')
axis.set(xlabel='epoch', ylabel='test accuracy', ylim=(0.8, 1))
axis.legend(frameon=False)
fig.tight_layout()

# %%
# Mistakes
# --------
# A table of what the network reads for each digit shows which digits look alike to it:

_, read = predict(network)
table = np.zeros((10, 10), int)
np.add.at(table, (t_test, read), 1)

fig, axis = plt.subplots(figsize=(4.6, 4.2))
axis.imshow(np.log1p(table), cmap='Blues')
for row, column in zip(*table.nonzero()):
    colour = 'white' if table[row, column] > 9 else 'black'
    axis.text(column, row, table[row, column], ha='center', va='center', color=colour, fontsize=8)
axis.set(xlabel='read', ylabel='digit', xticks=range(10), yticks=range(10))
fig.tight_layout()

# %%
# More ways to better models: :doc:`/guides/data` and :doc:`/guides/training_loops`.
