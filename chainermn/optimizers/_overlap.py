"""Overlap of backward with the exchange of gradients."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from chainer._core.autograd.leaves import watching_leaves
from chainermn import means

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer.link import Link
    from chainer.variable import Parameter, Variable


class Overlap:
    """Context in which a backward starts to send the gradients that are complete.

    The first backward records the order in which gradients complete. The order of rank 0 decides
    how they are divided into groups. All ranks start the groups in the same order, even if they
    compute different functions, so that none deadlocks.

    Args:
        communicator: Communicator.
        target: Model.
        bucket_bytes: Least size of a group.

    """

    def __init__(self, communicator: Any, target: Link, bucket_bytes: int) -> None:
        self._comm = communicator
        self._target = target
        self._bucket_bytes = bucket_bytes
        self._order: list[int] = []
        self._records = True  # the order, in this backward
        #: Parameters to whose gradients functions add while they compute their own.
        self._late: set[int] = set()
        #: Buckets that are sent together.
        self._groups: list[list[means.Bucket]] | None = None
        self._group_of: dict[int, int] = {}
        self._slots: Any = None
        self._missing: list[int] = []  # number of incomplete gradients of each group
        self._n_started = 0
        self._pending: list[Any] = []
        self._is_running = False

    def __enter__(self) -> Self:
        self._is_running = True
        if self._records:
            self._order = []
        if self._groups is not None:
            self._missing = [sum([len(b.params) for b in group]) for group in self._groups]
        with contextlib.ExitStack() as stack:
            params = [*self._target.params()]
            stack.enter_context(watching_leaves(self._on_ready, params, self._on_late))
            # Gradients that backward makes in shared memory need no copy to be sent.
            if self._slots is not None:
                stack.enter_context(self._slots.places)
            self._contexts = stack.pop_all()
        return self

    def __exit__(self, *args: Any) -> None:
        self._contexts.close()

    def _on_ready(self, param: Variable) -> None:
        if self._records:
            self._order.append(id(param))
        index = self._group_of.get(id(param))
        if self._groups is None or index is None or id(param) in self._late:
            return
        self._missing[index] -= 1
        # Groups start in order: ranks that complete them in another order would deadlock.
        while self._n_started < len(self._groups) and self._missing[self._n_started] == 0:
            self._start_next(self._groups)
        # MPI makes progress only during calls.
        for mean in self._pending:
            mean.test()

    def _on_late(self, param: Variable) -> None:
        self._late.add(id(param))
        index = self._group_of.get(id(param))
        if index is not None and index < self._n_started:
            name = next(name for name, other in self._target.namedparams() if other is param)
            raise RuntimeError(
                f'the gradient of parameter {name} had been sent when a function such as '
                'chainer.functions.forget added to it: create_multi_node_optimizer(..., '
                'bucket_bytes=None) sends gradients after the whole backward'
            )

    def _start_next(self, groups: list[list[means.Bucket]]) -> None:
        self._pending += self._comm.reducer.start(groups[self._n_started])
        self._n_started += 1

    def finish(self) -> bool:
        """Averages the rest of the gradients.

        Returns:
            ``False`` if no backward has run in the context; nothing is averaged then.

        """
        if not self._is_running or self._comm.size == 1:
            return False
        self._is_running = False
        with self._comm.calls.watching('update'):
            self._average()
        return True

    def _average(self) -> None:
        if self._groups is None:
            # Only now: making groups is collective, and ranks are at different places in backward.
            self._make_groups()
        groups: Any = self._groups
        self._comm.reducer.check('update', [bucket for group in groups for bucket in group])
        while self._n_started < len(groups):
            # A rank that did not use a parameter sends zeros: the others wait for its gradient.
            for bucket in groups[self._n_started]:
                bucket.fill_grads()
            self._start_next(groups)
        for mean in self._pending:
            mean.wait()
        self._pending, self._n_started = [], 0

    def _make_groups(self) -> None:
        """Makes the groups from the order that is recorded; collective."""
        self._groups = groups = self._divide(self._params_in_groups())
        self._records = False
        self._group_of = {
            id(p): i for i, group in enumerate(groups) for b in group for p in b.params
        }

    def _divide(self, groups: list[list[Parameter]]) -> list[list[means.Bucket]]:
        """Divides groups of parameters into buckets; collective."""
        divided: list[list[means.Bucket]] = self._comm.reducer.divide_groups(groups)
        self._slots = self._comm.reducer.make_slots([b for group in divided for b in group])
        return divided

    def _params_in_groups(self) -> list[list[Parameter]]:
        """Divides the parameters by their order in the backward of rank 0; collective."""
        params = dict(means.initialized_params(self._target))
        names = {id(param): name for name, param in params.items()}
        order = [names[i] for i in dict.fromkeys(self._order) if i in names and i not in self._late]
        # Ranks may compute different functions, so their own orders may differ.
        order = self._comm.bcast_obj(order)
        # Parameters whose gradients are not complete before the end, or that rank 0 did not use,
        # come last, in an order that all ranks share.
        order += [name for name in params if name not in set(order)]
        return self._group([params[name] for name in order if params[name].requires_grad])

    def _group(self, params: list[Parameter]) -> list[list[Parameter]]:
        sizes = [param.array.nbytes for param in params]
        groups = means.group(sizes, [param.dtype for param in params], self._bucket_bytes)
        return [[params[i] for i in numbers] for numbers in groups]
