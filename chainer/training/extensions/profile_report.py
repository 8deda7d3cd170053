from __future__ import annotations

import os
from typing import TYPE_CHECKING

from chainer.training import extension

if TYPE_CHECKING:
    from chainer.profiler import Profile
    from chainer.training.trainer import Trainer


class ProfileReport(extension.Extension):
    """Extension that profiles some iterations; see :func:`chainer.profiler.profile`.

    It writes the trace to a file in the output folder, and prints the table. If the training ends
    early, it does so for the iterations until then.

    Args:
        filename (str): Name of the file; ``None`` writes none.
        start (int): Number of iterations before the first one to profile. Those at the beginning
            make buffers, plans and workers.
        count (int): Number of iterations to profile.
        memory (bool): Whether to measure memory, too.

    Raises:
        ValueError: If ``start`` is negative or ``count`` is not positive.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> iterator = chainer.iterators.SerialIterator(train, 100)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> updater = chainer.training.StandardUpdater(iterator, optimizer)
        >>> trainer = chainer.training.Trainer(updater, (9, 'iteration'))
        >>> report = chainer.training.extensions.ProfileReport(None, start=2, count=5)
        >>> trainer.extend(report)
        >>> trainer.run()
        Profile of ... ms ...
        SerialIterator.next  ...

    """

    priority: int = -1000  # after all others, which belong to the iteration

    def __init__(
        self,
        filename: str | None = 'trace.json',
        start: int = 10,
        count: int = 20,
        memory: bool = False,
    ) -> None:
        if start < 0:
            raise ValueError(f'start must not be negative, but is {start}')
        if count < 1:
            raise ValueError(f'count must be positive, but is {count}')
        self._filename = filename
        self._memory = memory
        self._n_before = start
        self._n_left = count
        self._profile: Profile | None = None

    def initialize(self, trainer: Trainer) -> None:
        if self._n_before == 0:
            self._start(trainer)

    def _start(self, trainer: Trainer) -> None:
        from chainer.profiler import profile

        name = self._filename
        path = None if name is None else os.path.join(trainer.out, name)
        self._profile = profile(path, memory=self._memory).__enter__()

    def __call__(self, trainer: Trainer) -> None:
        if self._profile is not None:
            self._n_left -= 1
            if self._n_left == 0:
                self.finalize()
            return
        self._n_before -= 1
        if self._n_before == 0:
            self._start(trainer)

    def finalize(self) -> None:
        if self._profile is not None:
            self._profile.__exit__(None, None, None)
            print(self._profile)
            self._profile = None
