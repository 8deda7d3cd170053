"""The optimizer that exchanges gradients while the next ones are computed."""

from __future__ import annotations

from typing import Any

from chainermn.communicators import _gradients
from chainermn.optimizers._multi_node import MultiNodeOptimizer


class DoubleBufferingOptimizer(MultiNodeOptimizer):
    """Optimizer that uses the means of the gradients of the update before."""

    _pending: Any
    _ready: bool

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        vars(self).update(_pending=None, _ready=False)

    def _mean_grad(self) -> None:
        comm = self.communicator
        params = _gradients.params_with_grad(self.target, self.zero_fill)
        setting = comm.get_config('allreduce_grad_dtype')
        buckets = _gradients.make_buckets(params, setting, comm._bucket_bytes)
        grads = [param.grad for param in params]
        means = comm._start_means_of(buckets)
        before, self._pending = self._pending, (params, grads, buckets, means)
        # What is being sent must not change, so the parameters give it away.
        self.target.cleargrads()
        self._ready = before is not None
        if before is not None:
            params, grads, buckets, means = before
            for mean in means:
                mean.wait()
            for bucket in buckets:
                bucket.unpack()
            for param, grad in zip(params, grads):
                param.grad = grad

    def _update_params(self) -> None:
        if self._ready:
            super()._update_params()
