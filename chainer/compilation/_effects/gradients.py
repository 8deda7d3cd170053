"""Gradients that a call sets, clears, or adds to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.compilation._effects import undo
from chainer.compilation._effects.effect import Effect, Observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._scope import Scope


class ReadGradients(Effect):
    """Gradients of before that kernels read, such as those to which ``backward`` adds."""

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays

    def find_inputs(self, arrays: list[Any]) -> bool:
        for array in self._arrays:
            grad = array.grad
            # The watch of the scope tells, too, but runs last.
            if grad is None:
                return False
            arrays.append(grad)
        return True

    def describe(self, contents: Contents) -> None:
        raise ValueError(
            'it adds to gradients of earlier calls: clear them in the function, by cleargrads()'
        )


class SetGradients(Effect):
    """Gradients that the plan itself sets at the ends of its segments."""

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays

    def save(self) -> Callable[[], None]:
        pairs = [(a, a.grad) for a in self._arrays if a.is_grad_required()]
        # Both the array and its contents: kernels may add to the one that is there.
        restore_contents = undo.save_contents(grad for _, grad in pairs if grad is not None)

        def restore() -> None:
            for array, grad in pairs:
                if grad is None:
                    array.cleargrad()
                else:
                    array.set_grad(grad)
            restore_contents()

        return restore

    def describe(self, contents: Contents) -> None:
        pass  # nobody reads gradients in C++

    def results(self) -> list[tuple[str, Any]]:
        return [('a gradient', a.grad) for a in self._arrays if a.is_grad_required()]


class Gradients(Observer):
    """Compares gradients at the ends of segments; what sets them in between matters to nobody."""

    def __init__(self, scope: Scope, recorder: Any) -> None:
        self._arrays = scope.arrays
        self._recorder = recorder
        self._before: dict[int, Any] = {}
        self._now: dict[int, Any] = {}
        self._changes: list[tuple[Any, Any, int]] = []  # array, its gradient, segment

    def start(self) -> None:
        self._before = self._now = self._find()

    def note(self) -> None:
        # Code that sets a gradient gives the array another object, even of equal contents.
        now = self._find()
        for array in self._arrays:
            if id(array) in now and now[id(array)] is not self._now.get(id(array)):
                self._changes.append((array, now[id(array)], self._recorder.segment))
        if now.keys() != self._now.keys():
            self._recorder.note('an array begins to need a gradient')
        self._now = now

    def end_segment(self) -> None:
        """Ends a segment of the plan, which sets the gradients that have changed."""
        self.note()
        self._recorder.mark()

    def renew(self) -> None:
        self._now = self._find()

    def finish(self, draft: Draft) -> None:
        self.note()
        read = []
        for array in self._arrays:
            grad = self._before.get(id(array))
            if grad is not None and self._recorder.is_used(grad):
                read.append(array)
                draft.inputs.append(grad)
        if read:
            draft.effects.append(ReadGradients(read))
        draft.effects.append(SetGradients(self._arrays))
        # Where kernels add to the gradient of before, a run must keep it; other memory is free.
        renewed = {id(array) for array in self._arrays} - {id(array) for array in read}
        for array, grad, segment in self._changes:
            draft.set_grad(array, grad, segment, segment == 0 and id(array) in renewed)

    def _find(self) -> dict[int, Any]:
        return {id(array): array.grad for array in self._arrays if array.is_grad_required()}
