"""Names that PyTorch gives to the parameters of layers, for tables of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.serializers.name_table import Weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WEIGHT = (Weight('weight', 'W'),)
LINEAR = (Weight('weight', 'W'), Weight('bias', 'b'))
NORMALIZATION = (Weight('weight', 'gamma'), Weight('bias', 'beta'))
BATCH_NORMALIZATION = (
    *NORMALIZATION,
    Weight('running_mean', 'avg_mean'),
    Weight('running_var', 'avg_var'),
    Weight('num_batches_tracked', 'N', optional=True),  # old releases lack it
)


def rows(parameters: tuple[Weight, ...], layers: Mapping[str, str]) -> Iterator[Weight]:
    """Yields rows of a table of names.

    Args:
        parameters (tuple of Weight): Parameters of one layer.
        layers (dict): Names of layers with these parameters, ours by theirs.

    """
    for their_layer, our_layer in layers.items():
        for weight in parameters:
            theirs, ours = f'{their_layer}.{weight.theirs}', f'{our_layer}/{weight.ours}'
            yield weight._replace(theirs=theirs, ours=ours)
