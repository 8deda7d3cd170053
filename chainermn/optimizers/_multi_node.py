"""The optimizer that averages gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import serializer as serializer_module
from chainermn._sharding import parts
from chainermn.optimizers._overlap import Overlap

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer


class MultiNodeOptimizer:
    """Optimizer that averages gradients over all processes before another one uses them.

    Args:
        actual_optimizer: Optimizer, to which other attributes and methods are forwarded.
        communicator: Communicator.
        zero_fill: Whether missing gradients count as zeros.
        bucket_bytes: Least number of bytes that are sent while backward runs.

    """

    actual_optimizer: Any
    communicator: Any
    zero_fill: bool
    _bucket_bytes: int | None
    _overlap: Overlap | None
    _params: list[int] | None  # ids of those that are equal on all ranks
    _was_loaded: bool

    def __init__(
        self, actual_optimizer: Any, communicator: Any, zero_fill: bool, bucket_bytes: int | None
    ) -> None:
        vars(self).update(
            actual_optimizer=actual_optimizer,
            communicator=communicator,
            zero_fill=zero_fill,
            _bucket_bytes=bucket_bytes,
            _overlap=None,
            _params=None,
            _was_loaded=False,
        )

    def __getattr__(self, name: str) -> Any:
        if name == 'actual_optimizer':  # copy and pickle make objects without attributes
            raise AttributeError(name)
        return getattr(self.actual_optimizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # __init__ sets all attributes of this object; others belong to the actual optimizer.
        target = self if name in vars(self) else self.actual_optimizer
        if target is self:
            vars(self)[name] = value
        else:
            setattr(target, name, value)

    def setup(self, link: Link) -> Any:
        """Sets the link to optimize, see :meth:`chainer.Optimizer.setup`."""
        self._check_parts(link)
        self.actual_optimizer.setup(link)
        self._params = None
        return self

    def _check_parts(self, link: Link) -> None:
        for name, param in link.namedparams():
            if parts.part_of(param) is not None:
                raise ValueError(
                    f'parameter {name} is divided between the processes, which needs '
                    "create_multi_node_optimizer(..., sharded='parameters')"
                )

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters by the means of the gradients; collective.

        Args:
            lossfun (callable): Loss function, see :meth:`chainer.GradientMethod.update`.
            args, kwds: Arguments of the loss function.

        """
        target = self.actual_optimizer.target
        if target is None:
            raise RuntimeError('call `setup` method before `update` method')
        loss = None
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            self._clear_grads(target)
        is_new = self._has_new_params(target)
        if loss is not None:
            self._backward(loss, overlaps=not is_new)
            del loss
        if is_new:
            self._synchronize(target)
        else:
            self._mean_grad()
            self._update_params()

    @property
    def has_equal_params(self) -> bool:
        """Whether all ranks have the same parameters, from the first update or a snapshot."""
        return self._was_loaded or self._params is not None

    @property
    def _position(self) -> int:
        """Number of the update, by which ranks know whether they have loaded the same state."""
        t: int = self.actual_optimizer.t
        return t

    def _clear_grads(self, target: Link) -> None:
        if getattr(self.actual_optimizer, '_use_cleargrads', True):
            target.cleargrads()
        else:
            target.zerograds()

    def _has_new_params(self, target: Link) -> bool:
        """Tells whether parameters may differ between the ranks; collective if there are new ones.

        All ranks initialize the same parameters in the same update, so they agree on this.
        """
        params = _ids_of_params(target)
        if params == self._params:
            return False
        if self._was_loaded_everywhere():
            self._params = params
            return False
        return True

    def _synchronize(self, target: Link) -> None:
        # Gradients of different parameters have no mean, so this update sends parameters only.
        self.communicator.bcast_data(target)
        # The loss function may have initialized parameters.
        self._params = _ids_of_params(target)
        self._overlap = None

    def _was_loaded_everywhere(self) -> bool:
        """Tells whether all ranks have loaded a state of the same update; collective."""
        if self._params is not None:
            return False
        own = self._was_loaded, self._position
        everywhere = self.communicator.allgather_obj(own)
        return self._was_loaded and all([other == own for other in everywhere])

    def _backward(self, loss: Any, overlaps: bool) -> None:
        scale = self.actual_optimizer._loss_scale
        # Unless missing gradients count as zeros, which ones are missing is known after backward.
        if not (overlaps and self._bucket_bytes is not None and self.zero_fill):
            loss.backward(loss_scale=scale)
            return
        if self._overlap is None:
            self._overlap = self._make_overlap(self._bucket_bytes)
        with self._overlap:
            loss.backward(loss_scale=scale)

    def _make_overlap(self, bucket_bytes: int) -> Overlap:
        return Overlap(self.communicator, self.target, bucket_bytes)

    def _mean_grad(self) -> None:
        if self._overlap is None or not self._overlap.finish():
            self.communicator.multi_node_mean_grad(self.target, self.zero_fill)

    def _update_params(self) -> None:
        self.actual_optimizer.update(None)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of the optimizer."""
        self.actual_optimizer.serialize(serializer)
        if isinstance(serializer, serializer_module.Deserializer):
            self._was_loaded = True
            self._params = None


def _ids_of_params(target: Link) -> list[int]:
    return [id(param) for param in target.params() if param.array is not None]
