"""Arrays and variables on devices."""

import numpy as np

import chainer
from tests.helpers.devices import CHX


def send(x, device=CHX[0]):
    """Sends an array, or what makes one, to a device."""
    return chainer.get_device(device).send(np.asarray(x))


def var(x, device=CHX[0], **kwargs):
    """Variable of an array on a device."""
    return chainer.Variable(send(x, device), **kwargs)


def to_numpy(x):
    """NumPy array of a variable or array on any device."""
    return chainer.get_device('@numpy').send(chainer.as_array(x))
