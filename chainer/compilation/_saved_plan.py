"""Plans from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer.variable import Variable
from chainerx import _internal

if TYPE_CHECKING:
    from os import PathLike


class SavedPlan:
    """A plan from a file that :meth:`CompiledFunction.save` wrote, without the function.

    It is an inference or a step of a training. Calls repeat it to the bit on other arrays, and a
    training goes on where it was. ``chainerx::SavedPlan`` does the same in C++, without Python.

    Args:
        path (str or path-like): The file. It may come from anywhere, as it has no code.
        device: The device of ChainerX, which must be a native one.

    Raises:
        ValueError: If the file is damaged or of another version.
        ~chainerx.ChainerxError: If it cannot be read.

    .. admonition:: Example

        >>> model = L.Linear(3, 2)
        >>> _ = model.to_device('native:0')
        >>> @chainer.compile
        ... def infer(x):
        ...     with chainer.no_backprop_mode():
        ...         return model(x).array
        >>> x = model.device.send(np.ones((4, 3), 'f'))
        >>> results = [infer(x) for _ in range(3)]
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'linear.plan')
        ...     infer.save(path)
        ...     plan = chainer.compilation.SavedPlan(path)
        >>> plan.inputs, plan.outputs, sorted(plan.arrays)
        (['x'], ['result'], ['W', 'b'])
        >>> (y,) = plan(x)
        >>> bool((y == results[0]).all())
        True

    """

    def __init__(self, path: str | PathLike[str], device: Any = 'native:0') -> None:
        self._device = chainerx.get_device(device)
        self._plan = _internal.SavedPlan(str(path), self._device)

    def __call__(self, *arrays: Any) -> list[Any]:
        """Runs the plan once.

        Args:
            arrays: The inputs, of the shapes and dtypes of the recorded call: arrays of ChainerX,
                NumPy, or variables of such.

        Returns:
            list of chainerx.ndarray: The arrays that the function returns.

        Raises:
            ValueError: If an input does not fit; it is named.

        """
        values = [array.array if isinstance(array, Variable) else array for array in arrays]
        outputs: list[Any] = self._plan.run([self._send(value) for value in values])
        return outputs

    def _send(self, array: Any) -> Any:
        if isinstance(array, chainerx.ndarray):
            return array
        return chainerx.array(array, device=self._device)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the plan with the parameters and states of the moment."""
        self._plan.save(str(path))

    @property
    def inputs(self) -> list[str]:
        """Names of the arguments."""
        names: list[str] = self._plan.inputs
        return names

    @property
    def outputs(self) -> list[str]:
        """Names of the results."""
        names: list[str] = self._plan.outputs
        return names

    @property
    def arrays(self) -> dict[str, Any]:
        """Parameters, persistent values and states, by name. They may be changed in place."""
        return {name: self._plan.find(name) for name in self._plan.names}

    @property
    def guards(self) -> list[str]:
        """What the function depends on besides its arguments, which nobody checks any more."""
        labels: list[str] = self._plan.guards
        return labels
