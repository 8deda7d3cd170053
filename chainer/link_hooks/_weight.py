"""Base of the hooks that replace a weight during calls of a link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

from chainer import link_hook, variable

if TYPE_CHECKING:
    from chainer.link import Link
    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs


class WeightHook(link_hook.LinkHook):
    """Replaces the parameter ``weight_name`` with a function of it during a call.

    Register it to one link with :meth:`chainer.Link.add_hook`.
    """

    _calls_kernels_only = True

    def __init__(self, weight_name: str, name: str | None) -> None:
        self.weight_name = weight_name
        if name is not None:
            self.name = name

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f'{type(self).__name__} cannot be used in a with statement; register it to a link '
            'by Link.add_hook'
        )

    def __exit__(self, *exc_info: object) -> None:
        raise NotImplementedError(f'{type(self).__name__} cannot be used in a with statement')

    def added(self, link: Link | None) -> None:
        if not hasattr(link, self.weight_name):
            raise ValueError(f"Weight '{self.weight_name}' does not exist in {type(link).__name__}")

    def _transform(self, link):
        """Returns the variable that replaces the weight."""
        raise NotImplementedError

    def forward_preprocess(self, cb_args: _ForwardPreprocessCallbackArgs) -> None:
        link = cb_args.link
        weight = getattr(link, self.weight_name)
        if isinstance(weight, variable.Parameter):
            self._original = weight
        else:  # a failed call left it replaced
            link.__dict__[self.weight_name] = self._original
        if self._original.array is None:
            self._initialize_weight(link, cb_args.args[0])
        link.__dict__[self.weight_name] = self._transform(link)

    def _initialize_weight(self, link, x):
        # Linear layers flatten their inputs; convolutions have channels on the second axis.
        is_linear = not hasattr(link, 'ksize')
        link._initialize_params(math.prod(x.shape[1:]) if is_linear else x.shape[1])

    def forward_postprocess(self, cb_args: _ForwardPostprocessCallbackArgs) -> None:
        cb_args.link.__dict__[self.weight_name] = self._original
