"""
3. Train on a dataset
=====================

Real data has more examples than one step can take, and some of it must be kept to test the model.
This page trains a reader of handwritten digits in batches, first with a loop of its own, then with
a :class:`~chainer.training.Trainer`, which also writes logs and saves its state.
"""

import json
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions

np.random.seed(0)

# %%
# Data
# ----
# A dataset is a sequence of examples. These are images of 8 by 8 points, as vectors, and their
# digits. They come with Chainer, in a part for training and a part for tests.

train, test = chainer.datasets.get_digits()
image, digit = train[0]
print(len(train), len(test), image.shape, image.dtype, digit)

fig, axes = plt.subplots(1, 8, figsize=(9, 1.5))
for axis, (image, digit) in zip(axes, train):
    axis.imshow(image.reshape(8, 8), cmap='gray_r')
    axis.set_title(digit)
    axis.axis('off')

# %%
# An *iterator* makes batches: lists of examples, in a new order in each epoch. ``concat_examples``
# makes arrays of a list.

iterator = chainer.iterators.SerialIterator(train, batch_size=64)
batch = iterator.next()
x, t = chainer.dataset.concat_examples(batch)
print(len(batch), x.shape, t.shape)

# %%
# A loop
# ------


def make_network():
    return chainer.Sequential(L.Linear(64, 100), F.relu, L.Linear(100, 10))


network = make_network()
optimizer = chainer.optimizers.Adam(alpha=0.003).setup(network)
iterator.reset()
while iterator.epoch < 3:
    x, t = chainer.dataset.concat_examples(iterator.next())
    loss = F.softmax_cross_entropy(network(x), t)
    network.cleargrads()
    loss.backward()
    optimizer.update()
    if iterator.is_new_epoch:
        x, t = chainer.dataset.concat_examples(test)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            accuracy = F.accuracy(network(x), t)
        print(f'epoch {iterator.epoch}, test accuracy {float(accuracy.array):.3f}')

# %%
# A trainer
# ---------
# A trainer runs such a loop, and *extensions* after each epoch: an evaluation, a log, a table, a
# saved state. ``L.Classifier`` puts a loss and an accuracy on top of a network, and reports both.

network = make_network()
model = L.Classifier(network)
optimizer = chainer.optimizers.Adam(alpha=0.003).setup(model)

train_iterator = chainer.iterators.SerialIterator(train, batch_size=64)
test_iterator = chainer.iterators.SerialIterator(test, 64, repeat=False, shuffle=False)

out = tempfile.mkdtemp()  # a folder of your own, such as 'result'
updater = training.updaters.StandardUpdater(train_iterator, optimizer)
trainer = training.Trainer(updater, (12, 'epoch'), out=out)
trainer.extend(extensions.Evaluator(test_iterator, model))
trainer.extend(extensions.LogReport())
trainer.extend(
    extensions.PrintReport(['epoch', 'main/loss', 'main/accuracy', 'validation/main/accuracy'])
)
trainer.extend(extensions.snapshot(), trigger=(12, 'epoch'))
trainer.run()

# %%
# The file ``log`` in the folder has all figures:

with open(out + '/log') as file:
    log = json.load(file)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
for axis, value in [(left, 'loss'), (right, 'accuracy')]:
    epochs = [entry['epoch'] for entry in log]
    axis.plot(epochs, [entry['main/' + value] for entry in log], label='training')
    axis.plot(epochs, [entry['validation/main/' + value] for entry in log], label='test')
    axis.set(xlabel='epoch', ylabel=value)
    axis.legend(frameon=False)
fig.tight_layout()

# %%
# More about loops and trainers: :doc:`/guides/training_loops` and :doc:`/guides/trainer`; about
# data: :doc:`/guides/data`.
