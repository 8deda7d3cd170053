"""Stacks the examples of a batch. The public names are in ``convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.devices.array_types import get_array_types
from chainer._core.names.set_module import set_module
from chainer.backend import using_device
from chainer.dataset._converters import get_device, to_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.settings.types import NdArray


@set_module('chainer.dataset.convert')
def concat_examples_func(
    batch: Sequence[Any], device: DeviceSpec | None = None, padding: Any = None
) -> Any:
    """Stacks the examples of a batch into arrays.

    - Examples that are tuples: a tuple with the stacked arrays of each position.
    - Examples that are dictionaries: a dictionary with the stacked arrays of each key.
    - Otherwise the examples are stacked into one array.

    NumPy converts numbers and lists first.

    Args:
        batch (list): Examples, all of the same form.
        device: Device of the arrays; ``None`` does not move them.
        padding: Value to pad arrays of different shapes with, up to the largest size of
            each axis. ``None`` requires equal shapes. With tuple or dictionary examples
            this may be a tuple or dictionary with the value for each position or key.

    Returns:
        Array, tuple of arrays or dictionary of arrays.

    Raises:
        TypeError: If examples are neither arrays nor numbers.
        ValueError: If the batch is empty or shapes differ without padding.

    .. admonition:: Example

        >>> batch = [(np.arange(2), 0), (np.arange(3), 1)]
        >>> x, t = chainer.dataset.concat_examples(batch, padding=-1)
        >>> x
        array([[ 0,  1, -1],
               [ 0,  1,  2]])
        >>> t
        array([0, 1])
        >>> chainer.dataset.concat_examples([{'x': 1.5}, {'x': 2.5}])
        {'x': array([1.5, 2.5])}

    """
    device = get_device(device)
    if len(batch) == 0:
        raise ValueError('batch is empty')
    first = batch[0]

    def stack(key: Any, padding: Any) -> NdArray:
        return to_device(device, concat_arrays([example[key] for example in batch], padding))

    if isinstance(first, tuple):
        paddings = padding if isinstance(padding, tuple) else (padding,) * len(first)
        return tuple([stack(i, paddings[i]) for i in range(len(first))])
    if isinstance(first, dict):
        values = padding if isinstance(padding, dict) else dict.fromkeys(first, padding)
        return {key: stack(key, values[key]) for key in first}
    return to_device(device, concat_arrays(batch, padding))


def concat_arrays(examples: Sequence[Any], padding: Any) -> Any:
    """Stacks examples that are arrays, numbers or lists of numbers."""
    are_arrays = isinstance(examples[0], get_array_types())
    arrays = examples if are_arrays else _arrays_of_lists(examples, padding)
    if padding is not None:
        return concat_arrays_with_padding(arrays, padding)
    if isinstance(arrays, numpy.ndarray):
        return arrays
    device = backend.get_device_from_array(arrays[0])
    with using_device(device):
        # All backends have had concatenate, but not stack, from the start.
        try:
            return device.xp.concatenate([array[None] for array in arrays])
        except (TypeError, ValueError):
            _check_shapes(arrays)
            raise


def _arrays_of_lists(examples: Sequence[Any], padding: Any) -> Any:
    """Converts numbers or lists to an array; to a list of arrays if their shapes differ."""
    try:
        array = numpy.asarray(examples)
    except ValueError:
        arrays = [numpy.asarray(example) for example in examples]
        if padding is None:
            _check_shapes(arrays)
            raise
        return arrays
    if array.ndim == 1 and array.dtype.kind in 'OSU':
        raise TypeError(f'examples must be arrays, numbers or lists of them: {array[0]!r}')
    return array


def _check_shapes(arrays: Sequence[Any]) -> None:
    shapes = [numpy.shape(array) for array in arrays]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f'examples must have equal shapes, but example 0 has {shapes[0]} and example {i} '
                f'has {shape}: give padding=, as in concat_examples(batch, device, padding=0), or '
                'use another converter'
            ) from None


def concat_arrays_with_padding(arrays: Sequence[Any], padding: Any) -> Any:
    shape = tuple(numpy.max([array.shape for array in arrays], axis=0).astype(int).tolist())
    device = backend.get_device_from_array(arrays[0])
    with using_device(device):
        result = device.xp.full((len(arrays),) + shape, padding, dtype=arrays[0].dtype)
        for i, array in enumerate(arrays):
            result[(i,) + tuple([slice(size) for size in array.shape])] = array
    return result
