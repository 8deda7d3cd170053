"""What a plan is made from."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from chainer.compilation import _trees
from chainer.compilation._effects.effect import methods_of
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._effects.effect import Change, Effect
    from chainer.compilation._scope import Scope
    from chainer.variable import Variable


class Draft:
    """The arrays and effects of a plan that is being made.

    Args:
        scope: The objects that existed before the call.
        recorder: The kernels.
        inputs (list of arrays): The arguments; to these come what effects read and draw.
        backpropagated (list of Variables): Those whose graphs are of no more use.

    Attributes:
        held (list of arrays): Others that existed before the call, and that kernels may use.
        effects (list of Effects): In the order in which runs call them.
        changes (dict of lists of Changes): Those of the program's objects, by the number of the
            update that they precede.

    """

    def __init__(
        self, scope: Scope, recorder: Any, inputs: list[Any], backpropagated: list[Variable]
    ) -> None:
        self.recorder = recorder
        self.inputs = inputs
        # The plan keeps them alive: other arrays could get the memory that its kernels use.
        self.held = [*scope.arrays]
        self._arrays = scope.arrays
        self.effects: list[Effect] = []
        self.changes: defaultdict[int, list[Change]] = defaultdict(list)
        self._results: list[Any] = []
        self._forms = _trees.Result(self._results, scope.known, backpropagated)
        self._targets: list[Any] = []
        self._grads: list[int] = []
        self._segments: list[int] = []
        self._renewed: list[Any] = []
        self._lost: list[int] = []

    def add_result(self, array: Any) -> int:
        """Lets runs return an array; returns its number."""
        self._results.append(array)
        return len(self._results) - 1

    def add_result_of_graph(self, array: Any) -> int:
        """Does the same for an array that belongs to a graph, which no run makes.

        Backward that reaches the array raises an error.
        """
        number = self.add_result(array)
        if _trees.flags_of(array) & _trees.CHAINED:
            self._lost.append(number)
        return number

    def maker_of(self, value: Any) -> Callable[[list[Any]], Any]:
        """Lets runs return the arrays in a value; returns what makes the value of them again."""
        self._forms.check_graphs(value)
        make: Callable[[list[Any]], Any] = self._forms.form(value)
        return make

    def set_grad(self, array: Any, grad: Any, segment: int, is_renewed: bool) -> None:
        """Lets runs set the gradient of an array, or clear it, at the end of a segment.

        ``is_renewed``: whether the gradient of before is not read, so that a run may give its
        memory up at the start.
        """
        if grad is not None and not self.recorder.is_new(grad):
            raise GraphBreak('a gradient is an array that existed before')
        self._targets.append(array)
        self._segments.append(segment)
        self._grads.append(-1 if grad is None else self.add_result(grad))
        if is_renewed:
            self._renewed.append(array)

    def make_plan(self) -> Any:
        """Returns the plan, in C++."""
        plan = self.recorder.plan(
            self.inputs, self.held, self._results,
            self._targets, self._grads, self._segments, self._renewed,
        )  # fmt: skip
        if self._lost:
            plan.lose_graphs(self._lost, [a for a in self._arrays if a.is_grad_required()])
        # It would repeat nothing, yet keep the function from running.
        if not plan.call_count and not methods_of(self.effects, 'run'):
            raise GraphBreak('nothing of it ran on ChainerX')
        return plan
