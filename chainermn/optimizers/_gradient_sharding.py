"""The optimizer that divides its state and the gradients between the processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn import _arrays, means
from chainermn._sharding import parts
from chainermn._sharding.step import Departures
from chainermn.optimizers._overlap import Overlap
from chainermn.optimizers._sharded import ShardedOptimizer, check_hooks, updating_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chainer.link import Link
    from chainer.variable import Parameter
    from chainermn.means import Bucket


class GradientShardingOptimizer(ShardedOptimizer):
    """Optimizer that keeps the means of the gradients of its part of the parameters only.

    Backward sends each gradient to the ranks that update parts of it. Hooks see the shards in the
    place of the parameters.
    """

    _departures: Departures

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.communicator.reducer.refuse_own_int8_means()
        departures = Departures(self.communicator)
        departures.may_wait = True
        vars(self).update(_departures=departures)

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters by the means of the gradients; collective.

        Args:
            lossfun (callable): Loss function, see :meth:`chainer.GradientMethod.update`.
            args, kwds: Arguments of the loss function.

        """
        check_hooks(self.actual_optimizer)
        parts.prepare_means(self.communicator)
        super().update(lossfun, *args, **kwds)

    def _backward(self, loss: Any, overlaps: bool) -> None:
        # An update that only makes parameters equal needs no gradients, nor memory for them.
        if overlaps:
            self._fitting_shards()
            super()._backward(loss, overlaps)

    def _make_overlap(self, bucket_bytes: int) -> Overlap:
        return _Overlap(self.communicator, self.target, bucket_bytes, self._departures, self._send)

    def _send(self, params: Sequence[Parameter]) -> None:
        """Starts to send gradients, which the parameters lose; collective."""
        own = self._fitting_shards().parts
        grads = [(param, own[id(param)], _arrays.plain(param.grad)) for param in params]
        for param in params:
            param.cleargrad()
        self._departures.means('update', grads)

    def _mean_grad(self) -> None:
        if self._overlap is not None and self._overlap.finish():
            return
        params = means.params_with_grad(self.target, self.zero_fill)
        reducer = self.communicator.reducer
        reducer.check('update', reducer.divide(params))
        with self.communicator.calls.watching('update'):
            for param in params:
                self._send([param])
            self._departures.wait()

    def _update_params(self) -> None:
        shards = self._fitting_shards()
        grads = {id(param): grad for param, grad in self._departures.take()}

        def grad_of(param: Parameter, part: Any) -> Any:
            grad = grads.get(id(param))
            return None if grad is None else _arrays.like(grad, param.array)

        optimizer, target = self.actual_optimizer, self.target
        optimizer.target = _View(target, shards.take_grads(grad_of))
        try:
            with updating_parts(optimizer, self.communicator):
                optimizer.update(None)
        finally:
            optimizer.target = target
        shards.share()


class _View:
    """What an optimizer and its hooks see of a model: its parameters are shards.

    Args:
        link: Model.
        shards: Parameters with shards.

    """

    def __init__(self, link: Link, shards: Sequence[tuple[Parameter, Parameter]]) -> None:
        self._link = link
        self._shards = {id(param): shard for param, shard in shards}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        for name, param in self._link.namedparams(include_uninit):
            if id(param) in self._shards:
                yield name, self._shards[id(param)]

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        for _, param in self.namedparams(include_uninit):
            yield param


class _Overlap(Overlap):
    """Overlap in which gradients go to their owners, and none waits for a whole backward.

    Args:
        communicator: Communicator.
        target: Model.
        bucket_bytes: Least size of a group.
        departures: Gradients on their way.
        send: Adds gradients of parameters to them.

    """

    def __init__(
        self,
        communicator: Any,
        target: Link,
        bucket_bytes: int,
        departures: Departures,
        send: Callable[[Sequence[Parameter]], None],
    ) -> None:
        super().__init__(communicator, target, bucket_bytes)
        self._departures = departures
        self._send = send

    def __enter__(self) -> Any:
        if self._groups is None and self._comm.size > 1:
            # A guess for the first backward, which would else keep all gradients to its end.
            self._order = [id(param) for param in self._target.params()][::-1]
            self._make_groups()
            self._records = True
        return super().__enter__()

    def _average(self) -> None:
        super()._average()
        if self._records:
            self._make_groups()

    def _divide(self, groups: list[list[Parameter]]) -> list[list[Bucket]]:
        # Without shared memory, which has room for all gradients.
        return [self._comm.reducer.divide(group) for group in groups]

    def _start_next(self, groups: list[list[Bucket]]) -> None:
        self._send([param for bucket in groups[self._n_started] for param in bucket.params])
        self._pending = [self._departures]
        self._n_started += 1
