"""What is quantized, and how."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.quantization import _targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chainer.link import Link
    from chainer.quantization._calibration import LinkRanges
    from chainer.quantization._targets import Select


class WeightFormat(NamedTuple):
    """How a link holds a weight as integers.

    Attributes:
        shape (tuple of ints): Shape of the weight.
        bits (int): Bits of an integer; of four, two are in a byte.
        axis (int): Axis of the scales; ``None`` is one scale for all.
        block_size (int): Length of the blocks along the axis that have a scale each, or zero.

    """

    shape: tuple[int, ...]
    bits: int
    axis: int | None
    block_size: int


@dataclasses.dataclass(frozen=True)
class Scheme:
    """Options that :func:`~chainer.quantization.quantize` and ``prepare`` share, in their order."""

    ranges: Mapping[str, LinkRanges] | None = None
    weights: bool = True
    activations: bool | None = None  # ``None``: whether there are ranges
    bits: int = 8
    per_channel: bool = True
    block_size: int = 32
    activation_dtype: str = 'uint8'
    select: Select | None = None

    def __post_init__(self) -> None:
        if self.activations is None:
            object.__setattr__(self, 'activations', self.ranges is not None)
        if self.bits not in (4, 8):
            raise ValueError(f'bits must be 4 or 8, but is {self.bits!r}')
        if self.activation_dtype not in ('int8', 'uint8'):
            raise ValueError(
                f'activation_dtype must be int8 or uint8, but is {self.activation_dtype!r}'
            )
        if self.block_size < 1:
            raise ValueError(f'block_size must be positive, but is {self.block_size!r}')
        if self.activations and self.ranges is None:
            raise ValueError('activations need ranges, as calibrate gives them')
        if self.bits == 4 and self.activations:
            raise ValueError('4 bits are for weights only: activations must be False')
        if not (self.weights or self.activations):
            raise ValueError('weights and activations must not both be False')

    def targets(self, model: Link) -> Iterator[tuple[str, Any]]:
        """Paths and links of a model to quantize.

        Raises:
            ValueError: The ranges are of links that the model lacks, or there are no links.

        """
        unknown = set(self.ranges or ()) - {path for path, _ in model.namedlinks()}
        if unknown:
            raise ValueError(f'ranges must be of links of the model, which lacks {sorted(unknown)}')
        found = list(_targets.targets(model, self.select))
        if not found:
            raise ValueError('the model has no link with weights that select chooses')
        return iter(found)

    def format_of(self, link: Any, name: str, W: Any) -> WeightFormat:
        """The format of a weight."""
        channels = _targets.channel_axis(link, name) % W.ndim
        if not self.per_channel:
            return WeightFormat(W.shape, self.bits, None, 0)
        if self.bits == 4 and W.ndim == 2:
            return WeightFormat(W.shape, 4, 1 - channels, self.block_size)
        return WeightFormat(W.shape, self.bits, channels, 0)

    def formats_of(self, link: Any) -> dict[str, WeightFormat]:
        """Formats of the weights of a link."""
        if not self.weights:
            return {}
        weights = _targets.weights_of(link)
        return {name: self.format_of(link, name, W) for name, W in weights.items()}

    def inputs_of(self, path: str) -> dict[Any, tuple[float, float]]:
        """Ranges of the inputs of a link."""
        if not self.activations or path not in (self.ranges or {}):
            return {}
        assert self.ranges is not None
        return dict(self.ranges[path].inputs)
