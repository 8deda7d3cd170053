"""Which links have weights, which arrays these are, and where their output channels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer import links
from chainer._core.models.link_registry import params_of
from chainer._core.settings.half import FLOAT_KINDS
from chainer.link import Link
from chainer.links.rnn.n_step_rnn import NStepRNNBase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer.variable import Parameter

#: Which links are quantized: called with the path of a link and the link.
Select = Callable[[str, Link], bool]


def weights_of(link: Link) -> dict[str, Parameter]:
    """Parameters of a link itself that are matrices or have more axes.

    Raises:
        ValueError: One has no values yet.

    """
    weights = params_of(link)
    for name, weight in weights.items():
        if weight.array is None:
            raise ValueError(
                f'the parameter {name} of {link} has no values yet; call the model with an input'
            )
    return {name: w for name, w in weights.items() if w.ndim >= 2 and w.dtype.kind in FLOAT_KINDS}


def targets(model: Link, select: Select | None) -> Iterator[tuple[str, Link]]:
    """Paths and links of a model that have weights, and that ``select`` chooses.

    A layer of a recurrent network of several is chosen with the network.
    """
    layers: set[int] = set()
    for path, link in model.namedlinks():
        if id(link) in layers:
            yield path, link
        elif isinstance(link, NStepRNNBase):
            if select is None or select(path, link):
                layers |= {id(layer) for layer in link}
        elif _may_have_weights(link) and (select is None or select(path, link)):
            yield path, link


def _may_have_weights(link):
    return any(
        p.array is None or (p.ndim >= 2 and p.dtype.kind in FLOAT_KINDS)
        for p in params_of(link).values()
    )


def channel_axis(link: Any, name: str) -> int:
    """Axis of a weight with an index for each output, or, of a table, for each row."""
    if isinstance(link, (links.Deconvolution2D, links.DeconvolutionND)):
        return 1
    return -1 if isinstance(link, links.Bilinear) else 0
