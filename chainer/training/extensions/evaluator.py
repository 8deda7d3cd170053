from __future__ import annotations

import copy
import datetime
import warnings
from typing import TYPE_CHECKING, Any

from chainer import configuration, function, reporter as reporter_module
from chainer.dataset import _converters, convert, iterator as iterator_module
from chainer.training import extension
from chainer.training.extensions import util
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Device
    from chainer.dataset.iterator import Iterator
    from chainer.link import Link
    from chainer.training.trainer import Trainer
    from chainer.types import DeviceSpec, TriggerSpec


class Evaluator(extension.Extension):
    """Extension that evaluates a model on a validation dataset.

    It iterates over the dataset, calls the evaluation function with each batch in test mode and
    without graphs, and reports the means of all values that the function reports. Their
    names get the prefix ``<name of the extension>/`` (default: ``validation/``).

    To customize the evaluation, override :meth:`evaluate`.

    Args:
        iterator: Iterator of the validation dataset that does not repeat, or a dictionary of
            iterators with a key ``'main'``.
        target: Link to evaluate, or a dictionary of links.
        converter: Function that converts a batch to arrays on a device,
            :func:`~chainer.dataset.concat_examples` by default.
        device: Device specifier of the batches.
        eval_hook: Function of the evaluator, called before each evaluation.
        eval_func: Function called with each converted batch; the main target by default.
        progress_bar (bool): If true, shows a progress bar.

    Attributes:
        converter: The converter.
        device: Device of the batches.
        eval_hook: The hook.
        eval_func: The evaluation function, or ``None``.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> iterator = chainer.iterators.SerialIterator(test, 100, repeat=False, shuffle=False)
        >>> evaluator = chainer.training.extensions.Evaluator(iterator, model)
        >>> result = evaluator()  # without a trainer there is no prefix
        >>> sorted(result)
        ['main/accuracy', 'main/loss']

    """

    trigger: TriggerSpec = 1, 'epoch'
    default_name = 'validation'
    priority = extension.PRIORITY_WRITER

    name: str | None = None

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        target: Link | dict[str, Link],
        converter: Callable[..., Any] = convert.concat_examples,
        device: DeviceSpec | None = None,
        eval_hook: Callable[[Evaluator], Any] | None = None,
        eval_func: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        (progress_bar,) = argument.parse_kwargs(kwargs, ('progress_bar', False))

        if isinstance(iterator, iterator_module.Iterator) or not isinstance(iterator, dict):
            iterator = {'main': iterator}
        self._iterators = iterator
        if not isinstance(target, dict):
            target = {'main': target}
        self._targets = target

        self.converter = converter
        self.device: Device | None = _converters.get_device(device)
        self.eval_hook = eval_hook
        self.eval_func = eval_func
        self._progress_bar = progress_bar

        _warn_of_repetition(self._iterators)

    def get_iterator(self, name: str) -> Iterator:
        """Returns an iterator by name."""
        return self._iterators[name]

    def get_all_iterators(self) -> dict[str, Iterator]:
        """Returns the dictionary of all iterators."""
        return dict(self._iterators)

    def get_target(self, name: str) -> Link:
        """Returns a link by name."""
        return self._targets[name]

    def get_all_targets(self) -> dict[str, Link]:
        """Returns the dictionary of all links."""
        return dict(self._targets)

    def __call__(self, trainer: Trainer | None = None) -> dict[str, Any]:
        """Evaluates and reports the results to the current reporter.

        Args:
            trainer (Trainer): Trainer that calls the extension; optional.

        Returns:
            dict: Results, with the prefix in the names.

        """
        # The names of the links get a prefix of their own reporter.
        reporter = reporter_module.Reporter()
        prefix = '' if self.name is None else self.name + '/'
        for name, target in self._targets.items():
            reporter.add_observer(prefix + name, target)
            reporter.add_observers(prefix + name, target.namedlinks(skipself=True))

        with reporter, configuration.using_config('train', False):
            result = self.evaluate()
        reporter_module.report(result)
        return result

    def evaluate(self) -> dict[str, Any]:
        """Evaluates the batches of the main iterator; override this to customize the evaluation.

        Returns:
            dict: Mean of each reported value.

        """
        eval_func = self.eval_func or self._targets['main']
        if self.eval_hook:
            self.eval_hook(self)
        it = _reset(self._iterators['main'])
        summary = reporter_module.DictSummary()
        progress = _SweepProgressBar(it) if self._progress_bar else None
        for batch in it:
            in_arrays = _converters.call_converter(self.converter, batch, self.device)
            observation: dict[str, Any] = {}
            with reporter_module.report_scope(observation), function.no_backprop_mode():
                _converters.call_with(eval_func, in_arrays)
            summary.add(observation)
            if progress is not None:
                progress.advance(len(batch))
        if progress is not None:
            progress.close()
        return summary.compute_mean()

    def finalize(self) -> None:
        """Finalizes the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()


class _SweepProgressBar(util.ProgressBar):
    """Progress of one sweep over a dataset."""

    def __init__(self, iterator: Any, bar_length: int | None = None, out: Any = None) -> None:
        super().__init__(bar_length, out)
        self._size = len(iterator.dataset)
        self._position = 0

    def advance(self, n_examples: int) -> None:
        self._position += n_examples
        self.update()

    def get_lines(self) -> list[str]:
        rate = self._position / self._size if self._size else 1.0
        speed, _ = self.update_speed(self._position, rate)
        remaining = (self._size - self._position) / speed if speed else 0.0
        return [
            self._format_bar('validation', rate),
            f'{self._position:10} / {self._size} iterations\n',
            f'{speed:10.5g} iters/sec. Estimated time to finish: '
            f'{datetime.timedelta(seconds=remaining)}.\n',
        ]


def _warn_of_repetition(iterators):
    for key, it in iterators.items():
        if getattr(it, 'repeat', False) is True:
            warnings.warn(
                f'The `repeat` property of the iterator {key} is set to `True`. Typically, the '
                'evaluator sweeps over iterators until they stop, but as the property '
                'being `True`, this iterator might not stop and evaluation could go into '
                'an infinite loop. We recommend to check the configuration of '
                'iterators',
                stacklevel=2,
            )


def _reset(iterator):
    """Returns the iterator, or a copy, at its start."""
    if hasattr(iterator, 'reset'):
        iterator.reset()
        return iterator
    warnings.warn(
        'This iterator does not have the reset method. Evaluator copies the iterator '
        'instead of resetting. This behavior is deprecated. Please implement the reset '
        'method.',
        DeprecationWarning,
        stacklevel=2,
    )
    return copy.copy(iterator)
