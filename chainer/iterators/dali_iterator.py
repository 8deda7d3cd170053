from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer.dataset import iterator
from chainer.iterators import _ordered_iterator

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer


class DaliIterator(iterator.Iterator):
    """Iterator over the output of a pipeline of NVIDIA DALI.

    A batch is the result of ``pipeline.run()``, one list per output; use a converter that
    makes arrays from it, such as those of DALI's examples.

    Args:
        pipeline (nvidia.dali.pipeline.Pipeline): DALI pipeline with the method ``epoch_size``,
            built at the first use of the iterator.
        repeat (bool): If true, the iterator repeats endlessly; otherwise it stops after one
            epoch.

    .. admonition:: Example

        >>> iterator = chainer.iterators.DaliIterator(pipeline, repeat=False)  # doctest: +SKIP
        >>> images, labels = iterator.next()  # doctest: +SKIP

    """

    current_position: int
    epoch: int
    is_new_epoch: bool

    def __init__(self, pipeline: Any, repeat: bool = True) -> None:
        self._pipeline = pipeline
        self._repeat = repeat
        self.reset()

    def __next__(self) -> list[Any]:
        if not self._repeat and self.epoch > 0:
            raise StopIteration(_ordered_iterator.EXHAUSTED)
        self._previous_epoch_detail = self.epoch_detail
        outputs = self._pipeline.run()
        self.current_position += self.batch_size
        self.is_new_epoch = self.current_position >= self.epoch_size
        if self.is_new_epoch:
            self.epoch += 1
            self.current_position = self.current_position - self.epoch_size if self._repeat else 0
        return outputs

    next = __next__

    @functools.cached_property
    def epoch_size(self) -> int:
        """Number of examples in an epoch."""
        self._pipeline.build()
        sizes = self._pipeline.epoch_size()
        # A dictionary by reader, or a number.
        return list(sizes.values())[0] if isinstance(sizes, dict) else sizes

    @property
    def batch_size(self) -> int:
        """Number of examples in a batch."""
        return getattr(self._pipeline, 'max_batch_size', None) or self._pipeline.batch_size

    @property
    def epoch_detail(self) -> float:
        """Number of completed epochs including the fraction of the current one."""
        return self.epoch + self.current_position / self.epoch_size

    @property
    def previous_epoch_detail(self) -> float | None:
        """``epoch_detail`` before the last batch; ``None`` if there was none."""
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    @property
    def repeat(self) -> bool:
        """Whether the iterator repeats endlessly."""
        return self._repeat

    def reset(self) -> None:
        """Resets the position. The pipeline itself continues."""
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail = -1.0

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the position, but not the state of the pipeline."""
        self.current_position = serializer('current_position', self.current_position)
        self.epoch = serializer('epoch', self.epoch)
        self.is_new_epoch = serializer('is_new_epoch', self.is_new_epoch)
        self._previous_epoch_detail = serializer(
            'previous_epoch_detail', self._previous_epoch_detail
        )
