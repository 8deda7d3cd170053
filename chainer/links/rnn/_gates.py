"""Gates of LSTM layers."""

from chainer import functions


def split_gates(x):
    """Splits the interleaved outputs of the four gates of an LSTM layer: a, i, f and o."""
    return functions.separate(functions.reshape(x, (x.shape[0], x.shape[1] // 4, 4)), axis=2)
