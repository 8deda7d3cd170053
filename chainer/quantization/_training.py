"""Training of models whose numbers are rounded as those of a quantized model will be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, configuration, functions, variable
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation
from chainer.functions.util.forget import remember
from chainer.quantization import _functions, _links, _scales
from chainer.quantization._observers import MovingAverageMinMax
from chainer.quantization._quantize import dtype_of
from chainer.quantization._scheme import Scheme, WeightFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chainer.link import Link
    from chainer.quantization._calibration import LinkRanges
    from chainer.quantization._targets import Select


class Trained(_links.Converted):
    """Link whose weights and inputs are rounded with gradients, for training."""

    _prefix = 'FakeQuantized'
    _activation_dtype: str
    _learned: dict[int | str, int]  # the zero points of inputs whose scales are parameters
    _decay: float

    def weight(self, name: str) -> Any:
        _, *options = self._formats[name]
        W = self.__dict__[name]
        (scale,) = _ScaleOfWeight(*options).apply((W,))
        # The scale lets none be clipped, but for errors of the division.
        return _functions.rounded(W / scale) * scale

    def _quantized_input(self, place, x):
        x = variable.as_variable(x)
        if place in self._learned:
            zero = self._learned[place]
            scale = _with_small_gradient(
                self.__dict__[f'input_{place}_scale'], x.size, self._activation_dtype
            )
        else:
            if configuration.config.train and x.size:
                remember(lambda: self._observe(place, x.array))
            number, zero = self.scale_of_input(place)
            scale = backend.get_device_from_array(x.array).send(numpy.array(number, x.dtype))
        return _functions.fake_quantize(x, scale, zero, self._activation_dtype)

    def _observe(self, place, x):
        name = f'input_{place}_range'
        observer = MovingAverageMinMax(self._decay)
        observer.update(self.__dict__[name])
        observer.update(backend.CpuDevice().send(x))
        self.__dict__[name] = numpy.array(observer.range())

    def scale_of_input(self, place: int | str) -> tuple[float, int]:
        """Scale and zero point of an input."""
        if place in self._learned:
            scale = self.__dict__[f'input_{place}_scale'].array
            return abs(float(scale)), self._learned[place]
        low, high = self.__dict__[f'input_{place}_range']
        return _scales.scale_of_range(low, high, self._activation_dtype)

    def forget_inputs(self) -> None:
        """Removes what belongs to the inputs."""
        for place in self._inputs:
            kind = 'scale' if place in self._learned else 'range'
            delattr(self, f'input_{place}_{kind}')
        for name in '_inputs', '_learned', '_decay', '_activation_dtype':
            self.__dict__.pop(name, None)


class _ScaleOfWeight(Operation):
    """Scales of a weight, which training takes for constants, in a shape to broadcast with it."""

    _kernels = NO_KERNELS

    def __init__(self, bits: int, axis: int | None, block_size: int) -> None:
        self.bits = bits
        self.axis = axis
        self.block_size = block_size

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (W,) = inputs
        scale = _scales.scale_of_weight(W, self.bits, self.axis, self.block_size)
        return (_functions.aligned(scale, W.shape, self.axis or 0, self.block_size),)

    def forward_chainerx(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return self.forward((inputs[0].as_grad_stopped(),))


def _with_small_gradient(scale, size, dtype):
    """A learned scale, whose gradient is divided by the square root of its number of terms."""
    most = _functions.limits_of(dtype)[1]
    scale = functions.absolute(scale)
    return (scale - scale.array) / math.sqrt(max(size, 1) * most) + scale.array


def prepare(
    model: Link,
    ranges: Mapping[str, LinkRanges] | None = None,
    weights: bool = True,
    activations: bool | None = None,
    bits: int = 8,
    per_channel: bool = True,
    block_size: int = 32,
    activation_dtype: str = 'uint8',
    select: Select | None = None,
    learn: bool = False,
    decay: float = 0.99,
) -> Any:
    """Makes a copy of a model for quantization-aware training.

    The copy keeps its parameters, and computes with what integers can hold of its weights and of
    the inputs of its links, by :func:`fake_quantize`: training finds parameters that lose little
    by it. :func:`convert` makes the quantized model after training.

    The scale of a weight follows its largest magnitude. The range of an input starts with that of
    ``ranges``, and follows the numbers in training as moving averages of the least and the
    largest number, or its scale is a parameter.

    Args:
        model (~chainer.Link): Model. It stays as it is.
        ranges, weights, activations, bits, per_channel, block_size, activation_dtype, select: See
            :func:`quantize`.
        learn (bool): Whether scales of inputs are parameters, which start from ``ranges``.
        decay (float): Share of the old averages that stays in each call, from zero to less than
            one. One of ``1 - 1 / n`` averages over about ``n`` calls.

    Returns:
        ~chainer.Link: New model of the same structure. With ``learn`` it has more parameters, the
        scales of inputs: set up the optimizer with it.

    Raises:
        ValueError: See :func:`quantize`; or ``decay`` is not allowed.

    .. admonition:: Example

        >>> from chainer.quantization import calibrate, convert, prepare
        >>> model = chainer.Sequential(L.Linear(2, 1))
        >>> x = np.array([[1, 2], [-1, 0]], np.float32)
        >>> trained = prepare(model, calibrate(model, [x]))
        >>> optimizer = chainer.optimizers.SGD().setup(trained)
        >>> optimizer.update(lambda: F.mean(trained(x) ** 2))
        >>> with chainer.using_config('train', False):
        ...     bool((convert(trained)(x).array == trained(x).array).all())
        True

    """
    scheme = Scheme(
        ranges, weights, activations, bits, per_channel, block_size, activation_dtype, select
    )
    model = model.copy('copy')
    MovingAverageMinMax(decay)  # checks it
    for path, link in scheme.targets(model):
        formats, dtype = scheme.formats_of(link), dtype_of(link)
        _links.change_class(link, Trained)
        link._formats.update({name: tuple(form) for name, form in formats.items()})
        link._activation_dtype, link._decay, link._learned = activation_dtype, decay, {}
        for place, limits in scheme.inputs_of(path).items():
            _add_input(link, place, limits, learn, dtype)
    _links.change_parents(model)
    return model


def _add_input(link, place, limits, learn, dtype):
    link._inputs = (*link._inputs, place)
    low, high = limits
    scale, zero = _scales.scale_of_range(low, high, link._activation_dtype)
    if not learn:
        link.add_persistent(f'input_{place}_range', numpy.array(limits))
        return
    link._learned[place] = zero
    with link.init_scope():
        initial = link.device.send(numpy.array(scale, dtype))
        setattr(link, f'input_{place}_scale', variable.Parameter(initial))


def convert(model: Link) -> Any:
    """Makes the quantized model of one that :func:`prepare` made and training changed.

    It computes what ``model`` does in evaluation.

    Args:
        model (~chainer.Link): Model of :func:`prepare`. It stays as it is.

    Returns:
        ~chainer.Link: Model as of :func:`quantize`.

    Raises:
        ValueError: The model is not of :func:`prepare`.

    .. admonition:: Example

        >>> from chainer.quantization import convert, prepare
        >>> convert(prepare(L.Linear(3, 2))).W_quantized.dtype
        dtype('int8')

    """
    model = model.copy('copy')
    links = [link for link in model.links() if isinstance(link, Trained)]
    if not links:
        raise ValueError('the model has no link that prepare has made')
    for link in links:
        _convert(link)
    return model


def _convert(link):
    kind = link._activation_dtype
    inputs = {place: link.scale_of_input(place) for place in link._inputs}
    formats = {name: WeightFormat(*form) for name, form in link._formats.items()}
    link.forget_inputs()
    link.__class__ = link._base
    dtype = dtype_of(link)
    _links.change_class(link, _links.Quantized)
    for name, form in formats.items():
        _links.replace_weight(link, name, form)
    for place, (scale, zero) in inputs.items():
        _links.add_input(link, place, scale, zero, kind, dtype)
