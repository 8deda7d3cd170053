"""Ranges of the inputs and outputs of links on data."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from chainer import backend, configuration, link_hook
from chainer._core.devices.array_types import get_array_types
from chainer._core.settings.half import FLOAT_KINDS
from chainer.function import no_backprop_mode
from chainer.quantization._observers import MinMax, Observer, Range
from chainer.quantization._targets import targets
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chainer.link import Link
    from chainer.quantization._targets import Select

#: Place of an argument or result: its position, or the name of a keyword.
Place = int | str


@dataclasses.dataclass
class LinkRanges:
    """Ranges of what a link gets and gives.

    Attributes:
        inputs (dict): The least and the largest number of each argument that is an array of
            floats, by its position, or its name if it is given by name.
        outputs (dict): The same of each result, by its position.

    .. admonition:: Example

        >>> from chainer.quantization import LinkRanges, quantize
        >>> ranges = {'/': LinkRanges(inputs={0: (-1, 1.55)})}  # chosen by hand
        >>> quantize(L.Linear(3, 2), ranges).input_0_scale
        array(0.01, dtype=float32)

    """

    inputs: dict[Place, Range] = dataclasses.field(default_factory=dict)
    outputs: dict[Place, Range] = dataclasses.field(default_factory=dict)


def calibrate(
    model: Link,
    batches: Iterable[Any],
    observer: Callable[[], Observer] = MinMax,
    select: Select | None = None,
) -> dict[str, LinkRanges]:
    """Runs a model on data, and returns the ranges of what its links get and give.

    It runs a copy of the model as in evaluation (``train`` is false, and there are no graphs).
    The model, its states and statistics stay as they are.

    Args:
        model (~chainer.Link): Trained model.
        batches (iterable): Batches. Each is an argument of the model, a tuple of its arguments,
            or a dictionary of its named arguments.
        observer (callable): What makes a :class:`~chainer.quantization.Observer`, such as a
            class of them.
        select (callable): Which links; ``select(path, link)`` returns a boolean. The default
            takes all links that have weights.

    Returns:
        dict: The ranges (:class:`~chainer.quantization.LinkRanges`) by the path of the link. It
        lacks links that the model does not call.

    Raises:
        ValueError: There is no batch, or a number is not finite.

    .. admonition:: Example

        >>> from chainer.quantization import calibrate
        >>> model = chainer.Sequential(L.Linear(2, 1, initialW=1), F.relu)
        >>> calibrate(model, [np.array([[1, 2], [-3, 0]], np.float32)])
        {'/0': LinkRanges(inputs={0: (-3.0, 2.0)}, outputs={0: (-3.0, 3.0)})}

    """
    model = model.copy('copy')
    hook = _Watch({id(link): path for path, link in targets(model, select)}, observer)
    count = 0
    with configuration.using_config('train', False), no_backprop_mode(), hook:
        for batch in batches:
            call(model, batch)
            count += 1
    if not count:
        raise ValueError('batches must have at least one batch, but are empty')
    return hook.ranges()


def call(model: Any, batch: Any) -> Any:
    """Calls a model with an argument, a tuple of them, or a dictionary of named ones."""
    if isinstance(batch, dict):
        return model(**batch)
    return model(*batch) if isinstance(batch, tuple) else model(batch)


def floats_of(values: Iterable[tuple[Place, Any]]) -> Iterator[tuple[Place, Any]]:
    """Places and arrays of those values that are arrays of floats, or variables of them."""
    for place, value in values:
        array = value.array if isinstance(value, Variable) else value
        if isinstance(array, get_array_types()) and array.dtype.kind in FLOAT_KINDS:
            yield place, array


def results_of(out: Any) -> Iterator[tuple[Place, Any]]:
    """Places and arrays of the floats that a link returned."""
    return floats_of(enumerate(out if isinstance(out, (tuple, list)) else [out]))


def as_numpys(array: Any) -> Any:
    """Array of a dtype of NumPy, whose functions know bfloat16 badly."""
    return array.astype('f') if array.dtype.kind == 'V' else array


class _Watch(link_hook.LinkHook):
    """Shows numbers to observers, of which each place of each link has one."""

    name = 'QuantizationCalibration'

    def __init__(self, paths, observer):
        self._paths: dict[int, str] = paths
        self._observer = observer
        self._inputs: dict[str, dict[Place, Observer]] = {}
        self._outputs: dict[str, dict[Place, Observer]] = {}

    def forward_preprocess(self, args):
        self._watch(
            self._inputs, args.link, floats_of([*enumerate(args.args), *args.kwargs.items()])
        )

    def forward_postprocess(self, args):
        self._watch(self._outputs, args.link, results_of(args.out))

    def _watch(self, observers, link, values):
        path = self._paths.get(id(link))
        if path is None:
            return
        of_link = observers.setdefault(path, {})
        for place, array in values:
            array = as_numpys(backend.CpuDevice().send(array))
            if not array.size:
                continue
            if not abs(array).max() < float('inf'):
                raise ValueError(f'numbers must be finite, but those at {path} are not')
            if place not in of_link:
                of_link[place] = self._observer()
            of_link[place].update(array)

    def ranges(self):
        def of(observers, path):
            return {place: each.range() for place, each in observers.get(path, {}).items()}

        return {
            path: LinkRanges(of(self._inputs, path), of(self._outputs, path))
            for path in self._inputs
        }
