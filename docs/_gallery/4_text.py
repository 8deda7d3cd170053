"""
Write text, one character after another
=======================================

A recurrent network reads the documentation of Chainer's own functions, one character at a time, and
learns to predict the next. Then it writes by itself.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

np.random.seed(0)

functions = [getattr(F, name) for name in dir(F) if not name.startswith('_')]
text = '\n\n'.join(
    inspect.getdoc(f).split('Args:')[0].strip() for f in functions if inspect.isfunction(f)
)
alphabet = sorted(set(text))
code = {character: i for i, character in enumerate(alphabet)}
data = np.array([code[character] for character in text], np.int32)
print(len(data), 'characters,', len(alphabet), 'different ones')

# %%
# The model
# ---------
# :class:`chainer.links.NStepLSTM` runs over whole sequences and takes a list of them. It returns
# its state, with which the next call goes on.


class Writer(chainer.Chain):
    def __init__(self, n_characters, n_units=192):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_characters, 48)
            self.lstm = L.NStepLSTM(1, 48, n_units, dropout=0)
            self.out = L.Linear(n_units, n_characters)

    def forward(self, sequences, state=(None, None)):
        h, c, outputs = self.lstm(*state, [self.embed(s) for s in sequences])
        return self.out(F.concat(outputs, axis=0)), (h, c)


# %%
# Training
# --------
# The text becomes 20 long rows, which are read side by side in windows of 40 characters. The state
# goes on to the next window, but its history ends there: ``unchain_backward`` cuts the graph.

model = Writer(len(alphabet))
optimizer = chainer.optimizers.Adam(alpha=0.004).setup(model)
optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
rows = data[: len(data) // 20 * 20].reshape(20, -1)
losses = []
for _ in range(6):
    state = None, None
    for i in range(0, rows.shape[1] - 41, 40):
        window = rows[:, i : i + 41]
        y, state = model(list(window[:, :-1]), state)
        loss = F.softmax_cross_entropy(y, window[:, 1:].ravel())
        model.cleargrads()
        loss.backward()
        for s in state:
            s.unchain_backward()
        optimizer.update()
        losses.append(float(loss.array))

fig, axis = plt.subplots(figsize=(6, 3))
axis.plot(losses, linewidth=1)
axis.set(xlabel='iteration', ylabel='loss')
axis.grid(alpha=0.3)
fig.tight_layout()

# %%
# Writing
# -------
# Each character is drawn from the predicted probabilities and becomes the next input. A temperature
# below one prefers the probable ones.


def write(start, n, temperature=0.5):
    state, written = (None, None), start
    inputs = np.array([code[c] for c in start], np.int32)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for _ in range(n):
            y, state = model([inputs], state)
            p = F.softmax(y[-1:] / temperature).array[0].astype(float)
            inputs = np.random.choice(len(p), 1, p=p / p.sum()).astype(np.int32)
            written += alphabet[inputs[0]]
    return written


print(write('Computes the ', 400))
