"""Files of plans, written by :meth:`CompiledFunction.save`: batches, bits, and hostile files."""

import random
import struct

import numpy as np

import chainer
import chainer.functions as F
import chainerx
from chainer.compilation import SavedPlan

BATCH = 64
#: The name of the format, and a checksum.
HEAD = 24


def digits():
    """Returns batches of the digits."""
    data, _ = chainer.datasets.get_digits()
    x, t = (np.stack(part) for part in zip(*data[: 8 * BATCH]))
    x = x.reshape(len(x), -1).astype('f')
    batches = zip(np.split(x, 8), np.split(t.astype('i'), 8))
    return [chainerx_batch(batch) for batch in batches]


def chainerx_batch(batch):
    return tuple(chainerx.array(part, device='native:0') for part in batch)


def compiled_step(predict, model, optimizer, unchain=False):
    """Returns a compiled step of a training, which returns loss and accuracy by name."""

    @chainer.compile
    def step(x, t):
        y = predict(x)
        loss = F.softmax_cross_entropy(y, t)
        model.cleargrads()
        loss.backward()
        if unchain:
            loss.unchain_backward()
        optimizer.update()
        return {'loss': loss, 'accuracy': F.accuracy(y, t)}

    return step


def bits(arrays):
    return {name: chainerx.to_numpy(a).tobytes() for name, a in arrays.items()}


def parameters_of(model):
    return {name[1:]: param.array for name, param in model.namedparams()}


def checksum(body):
    value = 0xCBF29CE484222325
    for byte in body:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return struct.pack('<Q', value)


def sealed(body):
    """Returns a file of a body, with the right checksum."""
    return b'ChainerX plan 2\n' + checksum(body) + body


def count_refused(path, data, inputs, count):
    """Changes bytes of a file, with the right checksum, and runs it; returns how many are refused.

    Whatever a file says, nothing happens but errors and numbers.
    """
    path.write_bytes(data)
    # Before the contents of arrays: what a change there does, every file may do.
    end = len(data) - HEAD - sum(a.nbytes for a in SavedPlan(path).arrays.values())
    body = data[HEAD:]
    assert sealed(body) == data
    rng = random.Random(1)
    refused = 0
    for _ in range(count):
        changed = bytearray(body)
        for _ in range(rng.choice((1, 1, 2))):
            changed[rng.randrange(end)] = rng.choice(
                (0, 1, 2, 3, 0x7F, 0x80, 0xFF, rng.randrange(256))
            )
        path.write_bytes(sealed(bytes(changed)))
        try:
            plan = SavedPlan(path)
        except (ValueError, MemoryError):
            refused += 1
            continue
        try:
            plan(*inputs)
        except (ValueError, IndexError, MemoryError, chainerx.ChainerxError):
            pass
    return refused
