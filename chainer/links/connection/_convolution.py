"""Base of the convolution links, which create the filter once the input channels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import initializers, link, variable
from chainer.functions._arguments import pair
from chainer.links.connection import _bias

if TYPE_CHECKING:
    from chainer.variable import Parameter

SEE_CUDNN_CONFIG = (
    'deterministic argument is not supported anymore. '
    "Use chainer.using_config('cudnn_deterministic', value) context where value is either "
    '`True` or `False`.'
)


def shift_sizes(in_channels, out_channels, ksize):
    """Handles the form ``L.Convolution2D(out_channels, ksize)``, without input channels."""
    if ksize is None:
        return None, in_channels, out_channels
    return in_channels, out_channels, ksize


class ConvolutionBase(link.Link):
    """Base of the links with a filter ``W`` and a bias ``b``.

    A subclass sets ``ksize`` and other attributes that :meth:`_weight_shape`
    needs, then calls :meth:`_make_params`.
    """

    groups = 1

    b: Parameter | None

    def _make_params(self, in_channels, n_bias, nobias, initialW, initial_bias):
        with self.init_scope():
            self.W = variable.Parameter(initializers.get_initializer(initialW))
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = _bias.make_bias(nobias, initial_bias, n_bias)

    def _initialize_params(self, in_channels):
        self.W.initialize(self._weight_shape(in_channels))

    def _initialize_for(self, x):
        # A link hook, for example, may have replaced the weight with a plain variable.
        if self.W.array is None:
            self._initialize_params(x.shape[1])

    def _weight_shape(self, in_channels):
        return (self.out_channels, self._per_group(in_channels, 'input'), *self._kernel())

    def _kernel(self):
        return pair('ksize', self.ksize)

    def _per_group(self, n_channels, what):
        if self.groups < 1:
            raise ValueError(f'groups must be positive, but is {self.groups}')
        for kind, n in ((what, n_channels), ('output', self.out_channels)):
            if n % self.groups != 0:
                raise ValueError(
                    f'the number of {kind} channels must be divisible by the number of groups, '
                    f'but {n} channels and {self.groups} groups were given'
                )
        return n_channels // self.groups


class DeconvolutionBase(ConvolutionBase):
    """Base of the links whose filter has the input channels first."""

    def _weight_shape(self, in_channels):
        self._per_group(in_channels, 'input')
        return (in_channels, self._per_group(self.out_channels, 'output'), *self._kernel())
