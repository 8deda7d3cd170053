"""One ``a + b`` of 4x4 arrays, to measure the overhead of a call."""

import timeit

import devices
import numpy

from workloads.base import Workload


class Add(Workload):
    unit = 'hand'

    def __init__(self, name, about, recorded):
        super().__init__(name, about)
        self.recorded = recorded

    def _timer(self, make):
        a, b = (make(numpy.full((4, 4), value, 'f')) for value in (1, 2))
        return timeit.Timer('a + b', 'import gc; gc.enable()', globals={'a': a, 'b': b})

    def hand(self):
        return self._timer(lambda array: array)

    def torch(self):
        import torch

        device = devices.torch_device()
        return self._timer(
            lambda array: torch.from_numpy(array).to(device).requires_grad_(self.recorded)
        )

    def bare(self):
        import chainerx

        def make(array):
            array = chainerx.array(array)
            return array.require_grad() if self.recorded else array

        return self._timer(make)

    def numpy(self):
        return self._variable_timer('@numpy')

    def chainerx(self):
        return self._variable_timer(devices.name or 'native:0')

    def cupy(self):
        return self._variable_timer(devices.name)

    def _variable_timer(self, device):
        import chainer

        device = chainer.get_device(device)
        return self._timer(
            lambda array: chainer.Variable(device.send(array), requires_grad=self.recorded)
        )


WORKLOADS = [
    Add('add', 'a + b, 4x4', recorded=False),
    Add('add-recorded', 'a + b, 4x4, recorded for backward', recorded=True),
]
