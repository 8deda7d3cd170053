"""Gradients that are sent while others are still computed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from chainer._core.autograd import backprop
from chainermn.communicators import _gradients

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer.link import Link
    from chainer.variable import Variable


# A rest of fewer bytes is complete soon after the group before it, and would cost as many messages.
_SMALL = 1 << 16


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
        #: Buckets that are sent together.
        self._groups: list[list[_gradients.Bucket]] | None = None
        self._group_of: dict[int, int] = {}
        self._slots: Any = None
        self._missing: list[int] = []  # parameters of each group whose gradients are not complete
        self._n_started = 0
        self._means: list[Any] = []
        self._is_running = False

    def __enter__(self) -> Self:
        self._is_running = True
        self._order = []
        if self._groups is not None:
            self._missing = [sum([len(b.params) for b in group]) for group in self._groups]
        with contextlib.ExitStack() as stack:
            stack.enter_context(backprop.watching_leaves(self._on_ready))
            if self._slots is not None:
                stack.enter_context(self._slots.places)
            self._contexts = stack.pop_all()
        return self

    def __exit__(self, *args: Any) -> None:
        self._contexts.close()

    def _on_ready(self, param: Variable) -> None:
        if self._groups is None:
            self._order.append(id(param))
            return
        index = self._group_of.get(id(param))
        if index is None:
            return
        self._missing[index] -= 1
        while self._n_started < len(self._groups) and self._missing[self._n_started] == 0:
            self._start_next()
        for mean in self._means:
            mean.test()

    def _start_next(self) -> None:
        assert self._groups is not None
        self._means += self._comm._start_means_of(self._groups[self._n_started], self._slots)
        self._n_started += 1

    def finish(self) -> bool:
        """Averages the rest of the gradients.

        Returns:
            ``False`` if nothing has been done, because no backward has run in the context before.

        """
        if not self._is_running or self._comm.size == 1:
            return False
        self._is_running = False
        if self._groups is None:
            self._make_groups()
        assert self._groups is not None
        buckets = [bucket for group in self._groups for bucket in group]
        for bucket in buckets:
            bucket.fill_grads()
        self._comm._check('update', [(b.dtype.name, b.wire, b.size) for b in buckets])
        while self._n_started < len(self._groups):
            self._start_next()
        for mean in self._means:
            mean.wait()
        for bucket in buckets:
            bucket.unpack()
        self._means = []
        self._n_started = 0
        return True

    def _make_groups(self) -> None:
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
        if len(groups) > 1 and size < _SMALL:
            rest = groups.pop()
            groups[-1] += rest
        setting = self._comm.get_config('allreduce_grad_dtype')
        # Within a group, large gradients are sent without being joined.
        self._groups = [_gradients.make_buckets(group, setting, None) for group in groups]
        all_buckets = [bucket for buckets in self._groups for bucket in buckets]
        self._comm._share_memory(all_buckets)
        self._slots = self._comm._make_slots(all_buckets)
        self._group_of = {
            id(p): i for i, buckets in enumerate(self._groups) for b in buckets for p in b.params
        }
