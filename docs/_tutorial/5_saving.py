"""
5. Save, load and move a model
==============================

A trained model is its parameters and the class that uses them. This page saves the parameters,
loads them, trains a part of the model for a new task, and runs the model on another kind of device.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(0)
train, test = chainer.datasets.get_digits()
x, t = chainer.dataset.concat_examples(train)
x_test, t_test = chainer.dataset.concat_examples(test)


class Network(chainer.Chain):
    def __init__(self, n_out):
        super().__init__()
        with self.init_scope():
            self.features = chainer.Sequential(L.Linear(64, 100), F.relu, L.Linear(100, 32), F.relu)
            self.out = L.Linear(32, n_out)

    def forward(self, x):
        return self.out(self.features(x))


def fit(network, optimizer, t, n_steps=300):
    for _ in range(n_steps):
        i = np.random.randint(len(x), size=64)
        loss = F.softmax_cross_entropy(network(x[i]), t[i])
        network.cleargrads()
        loss.backward()
        optimizer.update()


def accuracy(network, t):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return round(float(F.accuracy(network(x_test), t).array), 3)


network = Network(10)
optimizer = chainer.optimizers.Adam(alpha=0.005).setup(network)
fit(network, optimizer, t)
print('accuracy', accuracy(network, t_test))

# %%
# Save and load
# -------------
# The file is one of NumPy's, with an array for each parameter. Loading it never runs code of the
# file.

path = os.path.join(tempfile.mkdtemp(), 'digits.npz')
chainer.serializers.save_npz(path, network)
with np.load(path) as file:
    print({name: file[name].shape for name in file})

# %%
# To load it, make the same model and fill it:

loaded = Network(10)
chainer.serializers.load_npz(path, loaded)
print('accuracy', accuracy(loaded, t_test))

# %%
# Freeze a part
# -------------
# A new task: is the digit even or odd? The model has two outputs now, so everything but the last
# layer comes from the file, and ``disable_update`` after ``setup`` keeps it as it is.

parity = Network(2)
chainer.serializers.load_npz(path, parity.features, path='features/')
optimizer = chainer.optimizers.Adam(alpha=0.005).setup(parity)
parity.features.disable_update()
before = parity.features[0].W.array.copy()
fit(parity, optimizer, t % 2)
print('accuracy', accuracy(parity, t_test % 2))
print('frozen', np.array_equal(before, parity.features[0].W.array))

# %%
# Another device
# --------------
# ``to_device`` moves a model, and ``send`` arrays. ``native:0`` is ChainerX, Chainer's own array
# library in C++, ``@cupy:0`` a GPU. Nothing else changes:

import chainerx  # noqa: E402

name = 'native:0' if chainerx.is_available() else '@numpy'
device = chainer.get_device(name)
network.to_device(device)
with chainer.using_device(device), chainer.no_backprop_mode():
    y = network(device.send(x_test))
print(type(y.array).__name__, 'on', y.device)

# %%
# Use it
# ------
# For new images, take the output to NumPy. Here are the answers for some of the test images:

scores = chainer.get_device('@numpy').send(y.array)
fig, axes = plt.subplots(1, 8, figsize=(9, 1.6))
for axis, image, answer in zip(axes, x_test, scores.argmax(axis=1)):
    axis.imshow(image.reshape(8, 8), cmap='gray_r')
    axis.set_title(answer)
    axis.axis('off')

# %%
# More: :doc:`/guides/serializers`, :doc:`/guides/devices` and :doc:`/chainerx`. The :doc:`gallery
# </gallery/index>` has larger programs.
