"""The check of gradients of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.gradient_checks.backward_check import BackwardCheck, Settings, without_gradients
from chainer._core.gradient_checks.probing import as_tuple, backpropagate

if TYPE_CHECKING:
    from collections.abc import Sequence


class DoubleBackwardCheck:
    """Check of the backward computation of a function, as a function of inputs and gradients."""

    def __init__(
        self,
        func: Any,
        x_data: Any,
        y_grad: Any,
        x_grad_grad: Any,
        params: Any,
        params_grad_grad: Any,
        no_grads: Sequence[bool] | None,
    ) -> None:
        self.func = func
        self.x_data = as_tuple(x_data)
        self.params = as_tuple(params)
        self.y_grad = as_tuple(y_grad)
        self.params_grad_grad = as_tuple(params_grad_grad)
        if len(self.params_grad_grad) != len(self.params):
            raise ValueError(
                'params_grad_grad must have one element per parameter: '
                f'{len(self.params_grad_grad)} != {len(self.params)}'
            )
        self.no_grads = list(without_gradients(self.x_data) if no_grads is None else no_grads)
        self.x_grad_grad = self._one_for_each_input(as_tuple(x_grad_grad))
        # Outputs without a gradient are constant over all evaluations.
        self.given = [i for i, gy in enumerate(self.y_grad) if gy is not None]

    def _one_for_each_input(self, x_grad_grad: tuple[Any, ...]) -> tuple[Any, ...]:
        """Adds ``None`` for inputs without gradient, which may be left out."""
        n_x = len(self.x_data)
        if len(x_grad_grad) == self.no_grads.count(False) < n_x:
            rest = iter(x_grad_grad)
            x_grad_grad = tuple([None if no_grad else next(rest) for no_grad in self.no_grads])
        if len(x_grad_grad) != n_x:
            raise ValueError(
                f'x_grad_grad must have one element per input: {len(x_grad_grad)} != {n_x}'
            )
        return x_grad_grad

    def run(self, settings: Settings) -> None:
        """Runs the check.

        Raises:
            AssertionError: If the gradients differ.

        """
        pairs = zip(self.x_grad_grad, self.no_grads)
        ggxs = [ggx for ggx, no_grad in pairs if not no_grad and ggx is not None]
        check = BackwardCheck(
            self._first_order_grad,
            (*self.x_data, *[self.y_grad[i] for i in self.given]),
            (*ggxs, *self.params_grad_grad),
            self.params,
            [*self.no_grads, *[False] * len(self.given)],
            settings,
        )
        try:
            check.run()
        except AssertionError as e:
            raise AssertionError(f'check_double_backward failed ({settings})\n\n{e}') from None

    def _first_order_grad(self, *inputs: Any) -> tuple[Any, ...]:
        n_x = len(self.x_data)
        xs = inputs[:n_x]
        gys: list[Any] = [None] * len(self.y_grad)
        for i, gy in zip(self.given, inputs[n_x:]):
            gys[i] = gy
        for x in (*xs, *self.params):
            x.cleargrad()
        ys = as_tuple(self.func(*xs))
        if len(ys) != len(gys):
            raise ValueError(
                '`y_grad` must have the same length of output values.\n'
                f'Actual: {len(gys)} != {len(ys)}'
            )
        backpropagate(ys, gys, enable_double_backprop=True)
        return self._take_gradients(xs)

    def _take_gradients(self, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Takes the gradients of the inputs and parameters away from them."""
        gxs = []
        no_grads = [*self.no_grads, *[False] * len(self.params)]
        for i, (x, no_grad) in enumerate(zip((*xs, *self.params), no_grads)):
            gx = x.grad_var
            x.cleargrad()
            if no_grad or (i < len(xs) and self.x_grad_grad[i] is None):
                continue
            if gx is None:
                raise RuntimeError(
                    f'the function gives no gradient of input {i}, which no_grads does not exclude'
                )
            gxs.append(gx)
        return tuple(gxs)
