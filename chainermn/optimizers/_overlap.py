"""Gradients that travel while others are still computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core import backprop
from chainermn.communicators import _gradients

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer.link import Link
    from chainer.variable import Variable


class Overlap:
    """Context in which a backward starts to send the gradients that are complete.

    The first backward shows in which order gradients get complete; that of rank 0 decides how they
    are divided into buckets. All ranks start the buckets in the same order, so none waits for
    another that computes other functions.

    Args:
        communicator: Communicator.
        target: Model.
        bucket_bytes: Least size of a bucket.

    """

    def __init__(self, communicator: Any, target: Link, bucket_bytes: int) -> None:
        self._comm = communicator
        self._target = target
        self._bucket_bytes = bucket_bytes
        self._order: list[int] = []
        self._buckets: list[_gradients.Bucket] | None = None
        self._bucket_of: dict[int, int] = {}
        self._missing: list[int] = []
        self._means: list[Any] = []
        self._is_running = False

    def __enter__(self) -> Self:
        self._is_running = True
        self._order = []
        if self._buckets is not None:
            self._missing = [len(bucket.params) for bucket in self._buckets]
        self._watching = backprop.watching_leaves(self._on_ready)
        self._watching.__enter__()
        return self

    def __exit__(self, *args: Any) -> None:
        self._watching.__exit__(*args)

    def _on_ready(self, param: Variable) -> None:
        if self._buckets is None:
            self._order.append(id(param))
            return
        index = self._bucket_of.get(id(param))
        if index is None:
            return
        self._missing[index] -= 1
        self._start(lambda i: self._missing[i] == 0)
        for mean in self._means:
            mean.test()

    def _start(self, is_complete: Any) -> None:
        assert self._buckets is not None
        while len(self._means) < len(self._buckets) and is_complete(len(self._means)):
            bucket = self._buckets[len(self._means)]
            self._means.append(self._comm._start_mean_of(bucket))

    def finish(self) -> bool:
        """Averages the rest of the gradients.

        Returns:
            ``False`` if nothing has been done, because no backward has run in the context before.

        """
        if not self._is_running or self._comm.size == 1:
            return False
        self._is_running = False
        if self._buckets is None:
            self._make_buckets()
        _gradients.params_with_grad(self._target, zero_fill=True)
        assert self._buckets is not None
        self._comm._check('update', [(b.dtype.name, b.wire, b.size) for b in self._buckets])
        self._start(lambda i: True)
        for bucket, mean in zip(self._buckets, self._means):
            mean.wait()
            bucket.unpack()
        self._means = []
        return True

    def _make_buckets(self) -> None:
        params = dict(_gradients.sorted_params(self._target))
        names = {id(param): name for name, param in params.items()}
        order = [names[i] for i in dict.fromkeys(self._order) if i in names]
        order = self._comm.bcast_obj(order)
        order += [name for name in params if name not in set(order)]
        groups: list[list[Any]] = []
        size = 0
        for param in [params[name] for name in order if params[name].requires_grad]:
            if not groups or size >= self._bucket_bytes or param.dtype != groups[-1][-1].dtype:
                groups.append([])
                size = 0
            groups[-1].append(param)
            size += param.array.nbytes
        setting = self._comm.get_config('allreduce_grad_dtype')
        buckets: list[_gradients.Bucket] = []
        for group in groups:
            # Within a group, large gradients travel without being joined.
            buckets += _gradients.make_buckets(group, setting, None)
        self._comm._share_memory(buckets)
        self._buckets = buckets
        self._bucket_of = {id(p): i for i, bucket in enumerate(buckets) for p in bucket.params}
