from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, reporter
from chainer.training import _serialization, extension, util

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec

_PERCENTILES = 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87


def _call_xp(name, x, *args):
    return getattr(backend.get_array_module(x), name)(x, *args)


def _zeros(x):
    return _call_xp('count_nonzero', x == 0)


class ParameterStatistics(extension.Extension):
    """Extension that reports statistics of parameters and their gradients.

    Each statistic is a function of the flattened array. A trigger sets the intervals; at the end
    of each interval, the extension reports the mean under
    ``{prefix}/{link name}{parameter name}/{'data' or 'grad'}/{function name}``. The elements of
    array statistics (the percentiles) get the suffixes ``/0``, ``/1``, ... The name of a link
    without a parent is ``None``.

    Args:
        links (Link or iterable of Links): Links to observe.
        statistics (dict): Functions by name; ``None`` for none, to register them later.
            Defaults to mean, std, min, max, zeros (number of) and percentile.
        report_params (bool): If true, observes parameters.
        report_grads (bool): If true, observes gradients.
        prefix (str): Prefix of the keys.
        trigger: Trigger that ends the intervals.
        skip_nan_params (bool): If true, the statistics of an array that contains NaN are NaN
            without calling the functions.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.ParameterStatistics(
        ...     model, {'largest': lambda x: abs(x).max()}, report_grads=False,
        ...     trigger=(1, 'epoch')))
        >>> trainer.run()
        >>> round(float(trainer.observation['None/predictor/W/data/largest']), 2)
        0.13

    """

    default_name = 'parameter_statistics'
    priority = extension.PRIORITY_WRITER

    report_key_template = '{prefix}{link_name}{param_name}/{attr_name}/{function_name}'

    default_statistics: dict[str, Callable[..., Any]] = {
        'mean': functools.partial(_call_xp, 'mean'),
        'std': functools.partial(_call_xp, 'std'),
        'min': functools.partial(_call_xp, 'min'),
        'max': functools.partial(_call_xp, 'max'),
        'zeros': _zeros,
        'percentile': lambda x: _call_xp('percentile', x, numpy.array(_PERCENTILES)),
    }

    def __init__(
        self,
        links: Link | Iterable[Link],
        statistics: dict[str, Callable[..., Any]] | str | None = 'default',
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: TriggerSpec = (1, 'epoch'),
        skip_nan_params: bool = False,
    ) -> None:
        self._links: list[Any] = list(links) if isinstance(links, (list, tuple)) else [links]
        chosen: Any = self.default_statistics if statistics == 'default' else statistics
        self._statistics: dict[str, Callable[..., Any]] = dict(chosen or {})
        self._attrs = ['data'] * bool(report_params) + ['grad'] * bool(report_grads)
        self._prefix = prefix
        self._trigger = util.get_trigger(trigger)
        self._summary = reporter.DictSummary()
        self._skip_nan_params = skip_nan_params

    def __call__(self, trainer: Trainer) -> None:
        statistics = {}
        for link in self._links:
            for param_name, param in sorted(link.namedparams()):
                for attr_name in self._attrs:
                    array = param.array if attr_name == 'data' else param.grad
                    if array is None:
                        continue
                    key = self._partial_key(link.name, param_name, attr_name)
                    statistics.update(self._compute(array, key))
        self._summary.add(statistics)
        if self._trigger(trainer):
            reporter.report(self._summary.compute_mean())
            self._summary = reporter.DictSummary()

    def _partial_key(self, link_name, param_name, attr_name):
        return functools.partial(
            self.report_key_template.format,
            prefix='' if self._prefix is None else self._prefix + '/',
            link_name=link_name,
            param_name=param_name,
            attr_name=attr_name,
        )

    def _compute(self, array, key):
        # Functions get flat arrays. NumPy replaces ChainerX, which lacks many functions.
        device = backend.get_device_from_array(array)
        if isinstance(device, backend.ChainerxDevice):
            array = backend.CpuDevice().send(array)
        array = array.ravel()
        xp = backend.get_array_module(array)
        skip = self._skip_nan_params and bool(xp.isnan(array).any())
        result: dict[str, Any] = {}
        for name, function in self._statistics.items():
            value: Any = float('nan') if skip else function(array)
            key_name = key(function_name=name)
            if numpy.ndim(value) > 0:
                values = value.ravel() if hasattr(value, 'ravel') else value
                result.update((f'{key_name}/{i}', v) for i, v in enumerate(values))
            else:
                result[key_name] = value
        return result

    def register_statistics(self, name: str, function: Callable[..., Any]) -> None:
        """Adds a statistic.

        Args:
            name (str): Name, the last part of the keys.
            function: Function of a 1-dimensional array that returns a scalar or an array.

        """
        self._statistics[name] = function

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the current interval."""
        _serialization.serialize_extras(
            {'_summary': self._summary, '_trigger': self._trigger}, serializer
        )
