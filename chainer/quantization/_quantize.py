"""Models with integers for weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.quantization import _links, _scales
from chainer.quantization._scheme import Scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chainer.link import Link
    from chainer.quantization._calibration import LinkRanges
    from chainer.quantization._targets import Select


def quantize(
    model: Link,
    ranges: Mapping[str, LinkRanges] | None = None,
    weights: bool = True,
    activations: bool | None = None,
    bits: int = 8,
    per_channel: bool = True,
    block_size: int = 32,
    activation_dtype: str = 'uint8',
    select: Select | None = None,
) -> Any:
    """Makes a copy of a model with integers for weights, and rounded inputs of links.

    A link with the weight ``W`` gets the persistent values ``W_quantized``, integers, and
    ``W_scale``. It computes with ``W_scale * W_quantized``, which its attribute ``W`` is.
    Its input is rounded with the scale and zero point of its range, as by ONNX's
    ``QuantizeLinear`` and ``DequantizeLinear``. So Chainer computes what the model of
    :func:`onnx_chainer.export` says, in which the pairs of these operators let other programs
    multiply integers.

    Integers of weights are symmetric: the largest magnitude is 127, or 7 of four bits.
    To load a saved model, quantize a model of the same structure with the same arguments.

    Args:
        model (~chainer.Link): Trained model. It stays as it is.
        ranges (dict): Ranges of the inputs of links, by :func:`calibrate`. A link without one
            keeps its input.
        weights (bool): Whether weights become integers: all parameters with two or more axes.
        activations (bool): Whether inputs of links are rounded. The default is whether there are
            ``ranges``.
        bits (int): Bits of weights, 8 or 4. Four bits are for weights only.
        per_channel (bool): Whether weights have a scale for each output; of four bits, matrices
            have one for each block of inputs of each output. Otherwise a weight has one scale.
        block_size (int): Inputs of a block.
        activation_dtype (str): ``'uint8'``, with zero points, or ``'int8'``, symmetric.
        select (callable): Which links; ``select(path, link)`` returns a boolean. The default
            takes all links that have weights.

    Returns:
        ~chainer.Link: New model of the same structure.

    Raises:
        ValueError: An argument is not allowed, ``ranges`` are missing or not of this model, a
            weight has no values yet, or a hook replaces it.

    .. admonition:: Example

        >>> from chainer.quantization import calibrate, quantize
        >>> W = np.array([[1, -0.4], [0.3, 2]], np.float32)
        >>> model = chainer.Sequential(L.Linear(2, 2, initialW=W))
        >>> x = np.array([[1, 2], [-1, 0]], np.float32)
        >>> quantized = quantize(model, calibrate(model, [x]))
        >>> quantized[0].W_quantized
        array([[127, -51],
               [ 19, 127]], dtype=int8)
        >>> model(x).array.round(3)
        array([[ 0.2,  4.3],
               [-1. , -0.3]], dtype=float32)
        >>> quantized(x).array.round(3)
        array([[ 0.197,  4.299],
               [-1.   , -0.299]], dtype=float32)

    """
    scheme = Scheme(
        ranges, weights, activations, bits, per_channel, block_size, activation_dtype, select
    )
    model = model.copy('copy')
    for path, link in scheme.targets(model):
        formats, dtype = scheme.formats_of(link), dtype_of(link)
        _links.change_class(link, _links.Quantized)
        for name, form in formats.items():
            _links.replace_weight(link, name, form)
        for place, limits in scheme.inputs_of(path).items():
            scale, zero = _scales.scale_of_range(*limits, activation_dtype)
            _links.add_input(link, place, scale, zero, activation_dtype, dtype)
    _links.change_parents(model)
    return model


def dtype_of(link: Link) -> Any:
    """The dtype of the parameters of a link, which its inputs have."""
    return next(link.params()).dtype
