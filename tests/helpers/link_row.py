"""A row of the tables of links."""

from dataclasses import dataclass

import numpy as np


def r(seed, *shape):
    """Seeded float32 array with values in [-1, 1)."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype('f')


def digest(arrays):
    """One number that depends on all values of arrays and on their order."""
    flat = [np.asarray(a, 'd').ravel() for a in arrays]
    return float(sum(np.cos(np.arange(a.size)) @ a for a in flat))


@dataclass
class Row:
    """One way to make a link.

    Attributes:
        make (callable): Makes the link.
        args (tuple): Arguments of a call.
        saved (str): Names, dtypes (if not float32) and shapes in a file after the call. Before
            it, a name with a question mark has no value.
        attributes (str): Public attributes of the new link, with their values if these are simple.
        init (float or None): Digest of the parameters that are initialized, by name, for the seed 0.
        out (float or None): Digest of the outputs in training, for the seed 1, after a call
            in evaluation.

    """

    make: object
    args: tuple
    saved: str
    attributes: str
    init: float | None = None
    out: float | None = None

    def names(self, called):
        """What a file has, as in ``saved``, before or after the call."""
        if called:
            return self.saved.replace('?', '')
        return ' '.join(
            [
                name.split('?')[0] + ':object[]' if '?' in name else name
                for name in self.saved.split()
            ]
        )
