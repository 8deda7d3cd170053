"""Base classes of the workloads."""

import devices
import numpy


class Workload:
    """Base of the workloads.

    A subclass has one method per engine, named after the engine. The method returns a function
    that does one step and returns its loss, or a ``timeit.Timer`` if the time of a call matters.
    """

    unit = 'torch'  # the engine whose time is 1
    on_cpu = True  # whether it is small enough for CPUs
    precision = 'float32'  # or 'tf32' on GPUs, 'mixed16', 'mixed_bfloat16'
    tolerance = 1e-3  # relative, of the first losses
    engines: tuple[str, ...] = ('torch', 'hand', 'numpy', 'chainerx', 'bare', 'cupy')
    measure_memory = False

    def __init__(self, name, about):
        self.name = name
        self.about = about

    def build(self, engine):
        return getattr(self, engine)()


class Training(Workload):
    """One step of training a classifier: forward, backward, SGD update.

    Subclasses define the data, the initial parameters and the forward passes.
    """

    lr = 0.01
    engines: tuple[str, ...] = ('torch', 'numpy', 'chainerx', 'compiled', 'bare', 'cupy')

    def data(self):
        """Returns the input and the labels as NumPy arrays."""
        raise NotImplementedError

    def parameters(self):
        """Returns the initial parameters, in the order of every engine."""
        raise NotImplementedError

    def chainer_model(self):
        """Returns a chain whose ``__call__`` computes the scores, and its parameters in order."""
        raise NotImplementedError

    def torch_model(self):
        """Returns a module that computes the scores, and its parameters in order."""
        raise NotImplementedError

    def torch_parameters(self):
        """Returns the initial parameters in PyTorch's layout."""
        return self.parameters()

    def bare_forward(self, x, params):
        """Returns the scores, computed from ChainerX arrays."""
        raise NotImplementedError

    def numpy(self):
        return self._chainer_step('@numpy')

    def chainerx(self):
        return self._chainer_step(devices.name or 'native:0')

    def compiled(self):
        import chainer

        return chainer.compile(self.chainerx())

    def cupy(self):
        return self._chainer_step(devices.name)

    def chainer_parts(self, device):
        """Returns the model with its initial parameters, the input and the labels on a device."""
        import chainer

        device = chainer.get_device(device)
        mixed = {'mixed16': chainer.mixed16, 'mixed_bfloat16': 'mixed_bfloat16'}
        with chainer.using_config('dtype', mixed.get(self.precision, numpy.float32)):
            dtype = chainer.get_dtype()
            model, params = self.chainer_model()
        arrays = self.parameters()
        assert len(arrays) == len(params) == len(list(model.params()))
        for param, array in zip(params, arrays):
            param.array[...] = array
        model.to_device(device)
        x, t = self.data()
        x = x.astype(dtype) if x.dtype.kind == 'f' else x
        return model, *device.send((x, t))

    def _chainer_step(self, device):
        import chainer
        import chainer.functions as F

        model, x, t = self.chainer_parts(device)
        optimizer = chainer.optimizers.SGD(lr=self.lr).setup(model)
        if self.precision.startswith('mixed'):
            optimizer.use_fp32_update()
        if self.precision == 'mixed16':
            optimizer.loss_scaling()

        def step():
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward(loss_scale=optimizer._loss_scale)
            optimizer.update()
            return loss.array

        return step

    def bare(self):
        import chainerx

        lr = self.lr
        x, t = map(chainerx.array, self.data())
        params = [chainerx.array(array).require_grad() for array in self.parameters()]
        forward = self.bare_forward

        def step():
            loss = chainerx.softmax_cross_entropy(forward(x, params), t).mean()
            loss.backward()
            for param in params:
                values = param.as_grad_stopped()  # the same memory, outside the graph
                grad = param.grad
                assert grad is not None
                values -= grad * lr
                param.cleargrad()
            return loss

        return step

    def torch_parts(self):
        """Returns the module with its initial parameters, the input and the labels."""
        import torch

        model, params = self.torch_model()
        with torch.no_grad():
            for param, array in zip(params, self.torch_parameters()):
                param.copy_(torch.from_numpy(array))
        model.to(devices.torch_device())
        x, t = (torch.from_numpy(array).to(devices.torch_device()) for array in self.data())
        return model, x, t.long()

    def torch(self):
        import torch
        import torch.nn.functional as F

        model, x, t = self.torch_parts()
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        if self.precision.startswith('mixed'):
            return self._torch_mixed_step(model, x, t, optimizer)

        def step():
            loss = F.cross_entropy(model(x), t)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        return step

    def _torch_mixed_step(self, model, x, t, optimizer):
        import torch
        import torch.nn.functional as F

        device = devices.torch_device().partition(':')[0]
        is_half = self.precision == 'mixed16'
        scaler = torch.amp.GradScaler(device, enabled=is_half)

        def step():
            with torch.autocast(device, torch.float16 if is_half else torch.bfloat16):
                loss = F.cross_entropy(model(x), t)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss

        return step


def normal(rng, shape, fan_in):
    """Returns float32 weights with a standard deviation that preserves the scale of activations."""
    return (rng.standard_normal(shape) / numpy.sqrt(fan_in)).astype('f')
