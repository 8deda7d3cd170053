"""What quantization costs: the metric before and after, and the error of each layer."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, configuration, link_hook
from chainer.function import no_backprop_mode
from chainer.quantization._calibration import call, results_of
from chainer.quantization._links import Converted
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.link import Link


@dataclasses.dataclass
class Evaluation:
    """What :func:`evaluate` found. ``str()`` is a table of it.

    Attributes:
        before (float): Mean of the metric of the first model.
        after (float): The same of the second model.
        sqnr (dict): Signal-to-quantization-noise ratio of the output of each link, in decibels,
            by its path. It is infinite where there is no error.

    .. admonition:: Example

        >>> from chainer.quantization import Evaluation
        >>> print(Evaluation(0.975, 0.9725, {'/l1': 41.23, '/l2': 38.9}))
        metric: 0.975 before, 0.9725 after (-0.0025)
        /l1  41.2 dB
        /l2  38.9 dB

    """

    before: float
    after: float
    sqnr: dict[str, float]

    def __str__(self) -> str:
        change = self.after - self.before
        lines = [f'metric: {self.before:.5g} before, {self.after:.5g} after ({change:+.3g})']
        width = max(map(len, self.sqnr), default=0)
        lines += [f'{path:{width}}  {value:.1f} dB' for path, value in self.sqnr.items()]
        return '\n'.join(lines)


def evaluate(
    before: Link,
    after: Link,
    batches: Iterable[tuple[Any, ...]],
    metric: Callable[[Any, Any], Any],
) -> Evaluation:
    r"""Compares a quantized model with the first one on data.

    For each quantized link it gives the signal-to-quantization-noise ratio of the output,
    :math:`10 \log_{10} (\sum y^2 / \sum (y - \hat y)^2)`, in which the errors of the layers before
    it count as well. Copies of the models run, as in evaluation.

    Args:
        before (~chainer.Link): Model.
        after (~chainer.Link): Model of :func:`quantize`, :func:`prepare` or :func:`convert`.
        batches (iterable): Batches, tuples of arguments of the models and the targets, which come
            last. A batch of two arrays may be of :func:`chainer.dataset.concat_examples`.
        metric (callable): ``metric(y, targets)`` of what a model returns, such as
            :func:`~chainer.functions.accuracy`. Its means are over examples.

    Returns:
        Evaluation: The means of the metric, and the ratio for each quantized link.

    Raises:
        ValueError: There is no batch, or ``after`` has no quantized link.

    .. admonition:: Example

        >>> from chainer.quantization import evaluate, quantize
        >>> model = chainer.Sequential(L.Linear(3, 2))
        >>> batch = np.ones((4, 3), np.float32), np.zeros(4, np.int32)
        >>> found = evaluate(model, quantize(model), [batch], F.accuracy)
        >>> found.sqnr['/0'] > 30
        True

    """
    paths = [path for path, link in after.namedlinks() if isinstance(link, Converted)]
    if not paths:
        raise ValueError('after must be a quantized model, but has no quantized link')
    runs = [_Run(model, paths) for model in (before, after)]
    powers = {path: numpy.zeros(2) for path in paths}
    count = 0
    with configuration.using_config('train', False), no_backprop_mode():
        for batch in batches:
            outputs = [run.outputs(batch, metric) for run in runs]
            count += len(batch[-1])
            for path in paths:
                for y, z in zip(*[each.get(path, ()) for each in outputs]):
                    powers[path] += (y**2).sum(), ((y - z) ** 2).sum()
    if not count:
        raise ValueError('batches must have at least one example, but are empty')
    sqnr = {path: _decibels(*powers[path]) for path in paths if powers[path][0]}
    return Evaluation(runs[0].total / count, runs[1].total / count, sqnr)


def _decibels(signal, noise):
    return 10 * math.log10(signal / noise) if noise else math.inf


class _Run(link_hook.LinkHook):
    """One of the models, the sum of its metric, and the outputs of its links in a batch."""

    name = 'QuantizationEvaluation'

    def __init__(self, model, paths):
        self.model: Any = model.copy('copy')
        self.total = 0.0
        self._paths = {id(link): path for path, link in self.model.namedlinks() if path in paths}
        self._outputs: dict[str, list[Any]] = {}

    def outputs(self, batch, metric):
        """Runs a batch, and returns the outputs of the links by their paths."""
        self._outputs = {}
        with self:
            y = call(self.model, batch[:-1])
        value = metric(y, batch[-1])
        value = value.array if isinstance(value, Variable) else value
        self.total += float(value) * len(batch[-1])
        return self._outputs

    def forward_postprocess(self, args):
        path = self._paths.get(id(args.link))
        if path is not None:
            arrays = [backend.CpuDevice().send(array) for _, array in results_of(args.out)]
            self._outputs.setdefault(path, []).extend(a.astype(numpy.float64) for a in arrays)
