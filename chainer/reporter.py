"""Collecting named values while a program runs.

A :class:`Reporter` maps observed objects to names and collects what they report;
:class:`Summary` and :class:`DictSummary` reduce the collected values to statistics.
"""

from __future__ import annotations

import collections
import contextlib
import json
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, configuration, serializer as serializer_module, variable
from chainer._core.models import saving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from chainer.serializer import AbstractSerializer

_thread_local = threading.local()


def _get_reporters():
    """Returns this thread's stack of entered reporters."""
    try:
        return _thread_local.reporters
    except AttributeError:
        reporters = _thread_local.reporters = []
        return reporters


class Reporter:
    """Object to which observed values are reported.

    Observers (usually links) are registered under a name. A value from an observer
    is stored in ``observation`` under ``'<observer name>/<key>'``; a value without
    an observer is stored under its own key.

    A ``with`` statement makes a reporter current, and :func:`chainer.report` then
    writes to it; :meth:`scope` replaces the dictionary.

    Attributes:
        observation (dict): Dictionary of reported values.

    .. admonition:: Example

        >>> reporter = chainer.Reporter()
        >>> observer = object()
        >>> reporter.add_observer('my_observer', observer)
        >>> observation = {}
        >>> with reporter.scope(observation):
        ...     reporter.report({'x': 1}, observer)
        >>> observation
        {'my_observer/x': 1}

    """

    observation: dict[str, Any]

    def __init__(self) -> None:
        self._observer_names: dict[int, str] = {}
        self.observation = {}

    def __enter__(self) -> Self:
        _get_reporters().append(self)
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _get_reporters().pop()

    @contextlib.contextmanager
    def scope(self, observation: dict[str, Any]) -> Iterator[None]:
        """Makes this reporter current, which collects into a given dictionary.

        Args:
            observation (dict): The ``observation`` within the scope.

        """
        old = self.observation
        self.observation = observation
        with self:
            try:
                yield
            finally:
                self.observation = old

    def add_observer(self, name: str, observer: Any) -> None:
        """Registers an observer.

        Args:
            name (str): Name of the observer, the prefix of its values.
            observer: Any object, identified by ``id``.

        """
        self._observer_names[id(observer)] = name

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, Any]]) -> None:
        """Registers many observers, e.g. ``link.namedlinks(skipself=True)``.

        Args:
            prefix (str): Prefix of the names.
            observers: Iterable of ``(name, observer)`` pairs.

        """
        for name, observer in observers:
            self._observer_names[id(observer)] = prefix + name

    def report(self, values: dict[str, Any], observer: Any = None) -> None:
        """Stores values in the current observation.

        Stores variables without their graph, unless
        ``chainer.config.keep_graph_on_report`` is on.

        Args:
            values (dict): Values by key.
            observer: The reporting object.

        Raises:
            KeyError: If ``observer`` is not registered.

        """
        if not configuration.config.keep_graph_on_report:
            values = {key: _without_graph(value) for key, value in values.items()}

        if observer is None:
            self.observation.update(values)
            return
        try:
            prefix = self._observer_names[id(observer)]
        except KeyError:
            raise KeyError('Given observer is not registered to the reporter.') from None
        for key, value in values.items():
            self.observation[f'{prefix}/{key}'] = value


def _without_graph(value):
    if isinstance(value, variable.Variable):
        return variable.Variable(value.array, requires_grad=False)
    return value


def get_current_reporter() -> Reporter:
    """Returns the reporter entered last by this thread.

    Raises:
        IndexError: If there is none.

    .. admonition:: Example

        >>> with chainer.Reporter() as reporter:
        ...     chainer.get_current_reporter() is reporter
        True

    """
    return _get_reporters()[-1]


def report(values: dict[str, Any], observer: Any = None) -> None:
    """Reports values to the current reporter, if there is one.

    Links call this to make their values (loss, accuracy, ...) known to the trainer.

    Args:
        values (dict): Values by key.
        observer: The reporting object, usually ``self``. Its registered name becomes
            the prefix of the keys.

    .. admonition:: Example

        >>> class Regressor(chainer.Chain):
        ...     def __init__(self, predictor):
        ...         super().__init__(predictor=predictor)
        ...     def forward(self, x, y):
        ...         loss = F.mean_squared_error(self.predictor(x), y)
        ...         chainer.report({'loss': loss}, self)
        ...         return loss
        >>> model = Regressor(L.Linear(2, 1, initialW=1))
        >>> reporter = chainer.Reporter()
        >>> reporter.add_observer('main', model)
        >>> with reporter:
        ...     loss = model(np.array([[1, 2]], np.float32), np.array([[1]], np.float32))
        >>> reporter.observation
        {'main/loss': variable(4.)}

    """
    reporters = _get_reporters()
    if reporters:
        reporters[-1].report(values, observer)


@contextlib.contextmanager
def report_scope(observation: dict[str, Any]) -> Iterator[None]:
    """Collects reports to the current reporter in another dictionary.

    Args:
        observation (dict): Dictionary that receives the values within the scope.

    .. admonition:: Example

        >>> inner = {}
        >>> with chainer.Reporter() as reporter:
        ...     chainer.report({'x': 1})
        ...     with chainer.report_scope(inner):
        ...         chainer.report({'x': 2})
        >>> reporter.observation, inner
        ({'x': 1}, {'x': 2})

    """
    current = get_current_reporter()
    old = current.observation
    current.observation = observation
    try:
        yield
    finally:
        current.observation = old


# NumPy 2 adds a Python number to a 0-dimensional array in the dtype of the array, NumPy 1 in double
# precision.
_SUMS_ARE_NARROW = numpy.result_type(numpy.float32(0), 0.0) == numpy.float32


class Summary:
    r"""Online statistics (weighted mean and standard deviation) of a sequence.

    With values :math:`x_i` of weights :math:`w_i`, the mean is
    :math:`m = \sum w_i x_i / \sum w_i` and the standard deviation is
    :math:`\sqrt{\sum w_i x_i^2 / \sum w_i - m^2}`.

    .. admonition:: Example

        >>> summary = chainer.Summary()
        >>> for x in 1.0, 2.0, 6.0:
        ...     summary.add(x)
        >>> summary.compute_mean()
        3.0
        >>> round(float(summary.make_statistics()[1]), 3)
        2.16

    """

    def __init__(self) -> None:
        self._x = 0.0
        self._x2 = 0.0
        self._n: float = 0  # weights need not be integers

    def add(self, value: Any, weight: float = 1) -> None:
        """Adds a value.

        Args:
            value: Scalar or array of any device. 0-dimensional NumPy values are summed
                in double precision.
            weight: Weight of the value.

        """
        if backend.get_array_module(value) is not numpy:
            if hasattr(value, 'as_grad_stopped'):  # ChainerX
                value = value.as_grad_stopped()
            with backend.using_device(backend.get_device_from_array(value)):
                self._accumulate(value, weight)
            return
        if (
            _SUMS_ARE_NARROW
            and isinstance(value, (numpy.ndarray, numpy.generic))
            and value.ndim == 0
        ):
            value = value.item()
        self._accumulate(value, weight)

    def _accumulate(self, value, weight):
        # Not in place: a caller may hold the sums as a mean.
        weighted = weight * value
        self._x = self._x + weighted
        self._x2 = self._x2 + weighted * value
        self._n += weight

    def compute_mean(self) -> Any:
        """Returns the mean."""
        with backend.using_device(backend.get_device_from_array(self._x)):
            return self._x / self._n

    def make_statistics(self) -> tuple[Any, Any]:
        """Returns the pair of the mean and the standard deviation."""
        device = backend.get_device_from_array(self._x)
        with backend.using_device(device):
            mean = self.compute_mean()
            # Rounding may bring the difference below zero.
            variance = device.xp.maximum(self._x2 / self._n - mean * mean, 0)
            return mean, device.xp.sqrt(variance)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the sums."""
        try:
            self._x = _scalar(serializer('_x', self._x))
            self._x2 = _scalar(serializer('_x2', self._x2))
            # Old and new files hold integers or floats.
            loads = isinstance(serializer, serializer_module.Deserializer)
            n = _scalar(serializer('_n', float(self._n) if loads else self._n))
            self._n = int(n) if n == int(n) else n
        except KeyError:
            warnings.warn('The previous statistics are not saved.')


def _scalar(value):
    if isinstance(value, numpy.ndarray) and value.ndim == 0:
        return value.item()
    return value


class DictSummary:
    """Online statistics of a sequence of dictionaries, key by key.

    Summarizes only scalar values (and 0-dimensional arrays and variables) and ignores
    other entries. A value may be a pair ``(value, weight)``; other tuples are ignored.

    .. admonition:: Example

        >>> summary = chainer.DictSummary()
        >>> summary.add({'loss': 1.0})
        >>> summary.add({'loss': (4.0, 2), 'text': 'ignored'})  # with a weight of two
        >>> summary.compute_mean()
        {'loss': 3.0}

    """

    def __init__(self) -> None:
        self._summaries: Any = collections.defaultdict(Summary)

    def add(self, d: dict[str, Any]) -> None:
        """Adds a dictionary of values.

        Args:
            d (dict): Values, or pairs of a value and its weight, by name.

        Raises:
            ValueError: If a weight is not a scalar.

        """
        for key, value in d.items():
            weight = 1
            if isinstance(value, tuple) and len(value) == 2:
                value, weight = value
                weight = _unwrap(weight)
                if not _is_scalar(weight):
                    raise ValueError(f'Given weight to {key} was not scalar.')
            value = _unwrap(value)
            if _is_scalar(value):
                self._summaries[key].add(value, weight=weight)

    def compute_mean(self) -> dict[str, Any]:
        """Returns the dictionary of the means."""
        return {name: summary.compute_mean() for name, summary in self._summaries.items()}

    def make_statistics(self) -> dict[str, Any]:
        """Returns the means under their names and the deviations under ``'<name>.std'``."""
        statistics = {}
        for name, summary in self._summaries.items():
            statistics[name], statistics[name + '.std'] = summary.make_statistics()
        return statistics

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the sums of every name."""
        if isinstance(serializer, serializer_module.Serializer):
            names = list(self._summaries)
            serializer('_names', json.dumps(names))
        else:
            try:
                names = saving.load_json(serializer, '_names', list, str)
            except KeyError:
                warnings.warn('The names of statistics are not saved.')
                return
            saving.remember(serializer, self)
            self._summaries = collections.defaultdict(Summary)
        for i, name in enumerate(names):
            self._summaries[name].serialize(serializer['_summaries'][str(i)])


def _unwrap(value):
    return value.array if isinstance(value, variable.Variable) else value


def _is_scalar(value):
    if isinstance(value, (str, bytes)):
        return False
    return numpy.isscalar(value) or getattr(value, 'ndim', -1) == 0
