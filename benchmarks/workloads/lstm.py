"""A language model: embedding, one LSTM cell that steps through the sequence, linear."""

import numpy

from workloads.base import Training, normal

# Chainer keeps the four gates of a unit together, in this order: candidate, input, forget, output.
# PyTorch keeps the units of a gate together, in this order of ours:
TORCH_GATES = [1, 2, 0, 3]


def to_torch_gates(array):
    units = len(array) // 4
    gates = array.reshape(units, 4, *array.shape[1:])[:, TORCH_GATES]
    return numpy.ascontiguousarray(numpy.swapaxes(gates, 0, 1)).reshape(array.shape)


class LSTM(Training):
    def __init__(self, name, units, vocabulary, steps, batch, measure_memory=False):
        super().__init__(
            name,
            f'embed-LSTM-linear, {units} units, vocabulary {vocabulary}, {steps} steps, '
            f'batch {batch}',
        )
        self.units = units
        self.vocabulary = vocabulary
        self.steps = steps
        self.batch = batch
        self.measure_memory = measure_memory

    def data(self):
        rng = numpy.random.default_rng(0)
        words = rng.integers(0, self.vocabulary, (self.steps + 1, self.batch)).astype('i')
        return words[:-1], words[1:].ravel()

    def parameters(self):
        n, v = self.units, self.vocabulary
        rng = numpy.random.default_rng(1)
        return [
            normal(rng, (v, n), 1),
            normal(rng, (4 * n, n), n),
            numpy.zeros(4 * n, 'f'),
            normal(rng, (4 * n, n), n),
            normal(rng, (v, n), n),
            numpy.zeros(v, 'f'),
        ]

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, units, vocabulary):
                super().__init__()
                with self.init_scope():
                    self.embed = L.EmbedID(vocabulary, units)
                    self.lstm = L.LSTM(units, units)
                    self.fc = L.Linear(units, vocabulary)

            def forward(self, x):
                self.lstm.reset_state()
                hs = [self.lstm(self.embed(words)) for words in x]
                return self.fc(F.concat(hs, axis=0))

        m = Model(self.units, self.vocabulary)
        return m, [m.embed.W, m.lstm.upward.W, m.lstm.upward.b, m.lstm.lateral.W, m.fc.W, m.fc.b]

    def torch_model(self):
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self, units, vocabulary):
                super().__init__()
                self.embed = nn.Embedding(vocabulary, units)
                self.lstm = nn.LSTMCell(units, units)
                # One bias suffices, as in Chainer.
                nn.init.zeros_(self.lstm.bias_hh).requires_grad_(False)
                self.fc = nn.Linear(units, vocabulary)

            def forward(self, x):
                state = None
                hs = []
                for words in x:
                    state = self.lstm(self.embed(words), state)
                    hs.append(state[0])
                return self.fc(torch.cat(hs))

        m = Model(self.units, self.vocabulary)
        return m, [
            m.embed.weight,
            m.lstm.weight_ih,
            m.lstm.bias_ih,
            m.lstm.weight_hh,
            m.fc.weight,
            m.fc.bias,
        ]

    def torch_parameters(self):
        embed, *gates, w, b = self.parameters()
        return [embed, *map(to_torch_gates, gates), w, b]

    def bare_forward(self, x, params):
        import chainerx

        embed, w, b, lateral, fc_w, fc_b = params
        shape = self.batch, self.units
        zero = chainerx.zeros(shape, 'float32')
        c = h = zero
        hs = []
        for words in x:
            gates = chainerx.linear(embed.take(words, 0), w, b)
            if h is not zero:
                gates = gates + chainerx.linear(h, lateral)
            gates = gates.reshape(*shape, 4)
            c = (
                chainerx.tanh(gates[:, :, 0]) * chainerx.sigmoid(gates[:, :, 1])
                + chainerx.sigmoid(gates[:, :, 2]) * c
            )
            h = chainerx.sigmoid(gates[:, :, 3]) * chainerx.tanh(c)
            hs.append(h)
        return chainerx.linear(chainerx.concatenate(hs, 0), fc_w, fc_b)


WORKLOADS = [
    LSTM('lstm-tiny', 8, 50, 10, 1),
    LSTM('lstm', 512, 5000, 20, 20, measure_memory=True),
]
