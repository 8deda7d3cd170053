"""Times steps whose arrays have many shapes: ``python benchmarks/shapes.py [MODEL ...]``.

An epoch has a batch of every shape, and comes again until there are forty steps. Engines take
turns, an epoch each, from the first epoch on. The table has the time of an eager step in the third
epoch, and the others as multiples of the eager ones in the same epoch: a step under chainer.compile
in the first epoch, which makes the plans, the second and the third, and those of rivals in the
third. All times are processor times, which other work on the machine hardly affects.

``--rivals`` names the rivals: ``torch``, ``torch.compile`` and ``jax.jit``. The last two compile in
the first epoch, for minutes where there are many shapes.
"""

import argparse
import importlib.util
import itertools
import os
import statistics
import time
from typing import Any

# JAX has no variable for the number of its threads.
os.environ.setdefault(
    'XLA_FLAGS', '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1'
)
for _name in 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'CHAINERX_NUM_THREADS':
    os.environ.setdefault(_name, '1')

import harness  # noqa: E402
import numpy  # noqa: E402

EPOCHS = 3
MIN_STEPS = 40


class Perceptron:
    """Layers of 64, 64 and 10 units, in batches of many sizes."""

    about = 'perceptron, 64-64-10'
    counts = 1, 8, 16, 40, 200

    def batches(self, count):
        rng = numpy.random.default_rng(0)
        return [
            (rng.standard_normal((n, 64)).astype('f'), rng.integers(0, 10, n).astype('i'))
            for n in range(8, 8 + count)
        ]

    def chainer_loss(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        model = chainer.Sequential(L.Linear(64, 64), F.relu, L.Linear(64, 10))
        return model, lambda x, t: F.softmax_cross_entropy(model(x), t)

    def torch_loss(self):
        from torch import nn

        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        return model, lambda x, t: nn.functional.cross_entropy(model(x), t)

    def jax_loss(self):
        import shapes_jax

        return shapes_jax.perceptron()


class Translator:
    """An encoder and a decoder, LSTMs of 32 units, in batches of many sizes and lengths."""

    about = 'seq2seq, LSTM of 32'
    counts = 1, 40, 200
    words = 50

    def batches(self, count):
        rng = numpy.random.default_rng(0)
        pairs = itertools.product(range(4, 14), range(3, 23))  # length and size
        return [
            tuple([rng.integers(0, self.words, pair).astype('i') for _ in range(2)])
            for pair in itertools.islice(pairs, count)
        ]

    def chainer_loss(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, words):
                super().__init__()
                with self.init_scope():
                    self.embed = L.EmbedID(words, 32)
                    self.encoder = L.StatelessLSTM(32, 32)
                    self.decoder = L.StatelessLSTM(32, 32)
                    self.out = L.Linear(32, words)

            def forward(self, xs, ys):
                c = h = None
                for x in xs:
                    c, h = self.encoder(c, h, self.embed(x))
                loss: Any = 0
                for y, t in zip(ys[:-1], ys[1:]):
                    c, h = self.decoder(c, h, self.embed(y))
                    loss += F.softmax_cross_entropy(self.out(h), t)
                return loss

        model = Model(self.words)
        return model, model

    def torch_loss(self):
        from torch import nn

        class Model(nn.Module):
            def __init__(self, words):
                super().__init__()
                self.embed = nn.Embedding(words, 32)
                self.encoder, self.decoder = nn.LSTMCell(32, 32), nn.LSTMCell(32, 32)
                self.out = nn.Linear(32, words)

            def forward(self, xs, ys):
                state = None
                for x in xs:
                    state = self.encoder(self.embed(x), state)
                loss = 0
                for y, t in zip(ys[:-1], ys[1:]):
                    state = self.decoder(self.embed(y), state)
                    loss = loss + nn.functional.cross_entropy(self.out(state[0]), t)
                return loss

        model = Model(self.words)
        return model, model

    def jax_loss(self):
        import shapes_jax

        return shapes_jax.translator(self.words)


MODELS: dict[str, Any] = {'perceptron': Perceptron(), 'seq2seq': Translator()}


def chainer_step(model, batches, is_compiled):
    import chainer

    net, loss_of = model.chainer_loss()
    net.to_device('native:0')
    optimizer = chainer.optimizers.Adam().setup(net)

    def step(*batch):
        loss = loss_of(*batch)
        net.cleargrads()
        loss.backward()
        optimizer.update()

    step = chainer.compile(step) if is_compiled else step
    return step, [net.device.send(batch) for batch in batches]


def torch_step(model, batches):
    import torch

    torch.set_num_threads(1)
    net, loss_of = model.torch_loss()
    optimizer = torch.optim.Adam(net.parameters())

    def step(*batch):
        loss = loss_of(*batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step, [[torch.from_numpy(a).long() if a.dtype.kind == 'i' else torch.from_numpy(a)
                   for a in batch] for batch in batches]  # fmt: skip


def torch_compiled_step(model, batches):
    import torch

    step, data = torch_step(model, batches)
    return torch.compile(step), data


def jax_step(model, batches):
    import jax
    import shapes_jax

    step = shapes_jax.make_step(*model.jax_loss())
    return step, [[jax.numpy.asarray(a) for a in batch] for batch in batches]


#: The package that a rival needs, and what makes its step.
RIVALS: dict[str, Any] = {
    'torch': ('torch', torch_step),
    'torch.compile': ('torch', torch_compiled_step),
    'jax.jit': ('jax', jax_step),
}


def measure(step, batches):
    """Returns the processor time of a step of an epoch."""
    passes = -(-MIN_STEPS // len(batches))
    start = time.process_time()
    for _ in range(passes):
        for batch in batches:
            step(*batch)
    return (time.process_time() - start) / (passes * len(batches))


def measure_epochs(model, batches, rivals):
    """Returns the times of steps, a list of epochs for each engine."""
    runs = {
        'eager': chainer_step(model, batches, False),
        'compiled': chainer_step(model, batches, True),
    }
    for name in rivals:
        package, make_step = RIVALS[name]
        if importlib.util.find_spec(package) is not None:
            runs[name] = make_step(model, batches)
    for name, (step, data) in runs.items():
        if name != 'compiled':  # libraries set up their threads and tables
            step(*data[0])
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(EPOCHS):
        for name, run in runs.items():
            times[name].append(measure(*run))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('models', nargs='*', default=list(MODELS))
    parser.add_argument('--counts', type=int, nargs='*', help='numbers of shapes')
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--rivals', nargs='*', choices=RIVALS, default=['torch'])
    options = parser.parse_args()
    harness.print_machine(1)
    rows = []
    for name in options.models:
        model = MODELS[name]
        for count in options.counts or model.counts:
            batches = model.batches(count)
            found = [measure_epochs(model, batches, options.rivals) for _ in range(options.repeats)]
            eager = statistics.median([times['eager'][-1] for times in found])
            cells = [f'{model.about}, {count}', harness.format_time(eager)]
            columns = [('compiled', i) for i in range(EPOCHS)]
            for engine, epoch in columns + [(name, EPOCHS - 1) for name in options.rivals]:
                ratios = [t[engine][epoch] / t['eager'][epoch] for t in found if engine in t]
                cells.append(f'{statistics.median(ratios):.2f}x' if ratios else '-')
            rows.append(cells)
    epochs = [f'compiled, epoch {i + 1}' for i in range(EPOCHS)]
    harness.print_table(['one step, shapes', 'eager', *epochs, *options.rivals], rows)


if __name__ == '__main__':
    main()
