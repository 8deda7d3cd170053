"""The device that the workloads run on: the CPU, a GPU of ChainerX or one of CuPy."""

import importlib.util
import subprocess
import time
from typing import Any

# Engines by the kind of device, which the prefix of its name tells
ENGINES = {
    '': ('torch', 'hand', 'numpy', 'chainerx', 'compiled', 'bare'),
    'cuda:': ('torch', 'chainerx', 'compiled', 'bare'),
    '@cupy:': ('torch', 'cupy'),
}

name: Any = None  # None: the CPU


def kind():
    """Prefix of the device's name."""
    return '' if name is None else name[: name.index(':') + 1]


def choose(device):
    """Makes all engines run on a device, such as ``cuda:0`` or ``@cupy:0``."""
    global name
    prefix, _, index = device.rpartition(':')
    if f'{prefix}:' not in ENGINES or not index.isdigit():
        raise ValueError(f"the device must be 'cuda:N' or '@cupy:N', not {device!r}")
    import chainer
    import chainerx

    try:
        chainer.get_device(device).use()
    except (RuntimeError, chainerx.ChainerxError) as error:
        raise ValueError(f'there is no device {device}: {error}') from error
    name = device


def set_precision(precision):
    """Makes all engines round factors of float32 alike: as ``tf32``, or else not at all.

    Without this PyTorch rounds those of convolutions, but not those of other products.
    """
    import chainerx

    rounds = precision == 'tf32'
    if chainerx.is_available():
        chainerx.set_compute_mode('tf32' if rounds else 'float32')
    if importlib.util.find_spec('torch'):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = rounds
        torch.backends.cudnn.allow_tf32 = rounds


def torch_device():
    return 'cpu' if name is None else 'cuda:' + name.rpartition(':')[2]


def _synchronize(engine):
    """Function that waits for the work of an engine."""
    if engine == 'torch':
        import torch

        return lambda: torch.cuda.synchronize(torch_device())
    import chainer

    device: Any = chainer.get_device(name)
    return device.device.synchronize


class Timer:
    """Timer like :class:`timeit.Timer` that waits for the GPU before and after."""

    def __init__(self, timer, engine):
        self._timer = timer
        self._synchronize = _synchronize(engine)

    def timeit(self, number):
        self._synchronize()
        start = time.perf_counter()
        self._timer.timeit(number)
        self._synchronize()
        return time.perf_counter() - start


def describe():
    """Name and driver of the GPU."""
    query = 'nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f'{name}, no GPU of NVIDIA'
    gpus = done.stdout.splitlines()
    gpu, driver = gpus[min(int(name.rpartition(':')[2]), len(gpus) - 1)].split(', ')
    return f'{name}: {gpu}, driver {driver}'
