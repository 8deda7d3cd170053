"""The optimizer that sends gradients while the next step computes."""

from __future__ import annotations

from typing import Any

from chainermn import means
from chainermn.optimizers._multi_node import MultiNodeOptimizer


class DoubleBufferingOptimizer(MultiNodeOptimizer):
    """Optimizer that uses the means of the gradients of the previous update."""

    _pending: Any
    _ready: bool

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._check_dtype()
        vars(self).update(_pending=None, _ready=False)

    def _check_dtype(self) -> None:
        self.communicator.reducer.refuse_int8(
            'with double_buffering, gradients are sent before the residuals of the last ones are '
            'known'
        )

    def _mean_grad(self) -> None:
        self._check_dtype()
        reducer = self.communicator.reducer
        params = means.params_with_grad(self.target, self.zero_fill)
        grads = [param.grad for param in params]
        pending = reducer.start(reducer.divide(params))
        before, self._pending = self._pending, (params, grads, pending)
        # The next backward must not write to gradients that are being sent.
        self.target.cleargrads()
        self._ready = before is not None
        if before is not None:
            params, grads, pending = before
            with self.communicator.calls.watching('update'):
                for mean in pending:
                    mean.wait()
            for param, grad in zip(params, grads):
                param.grad = grad

    def _update_params(self) -> None:
        if self._ready:
            super()._update_params()
