"""What a file has besides the kernels of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import link
from chainer._core.optimizers.update_rule import master_of
from chainer.compilation import _trees
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from chainer.compilation._effects.stages import Scalars
    from chainer.compilation._recorded import Recorded

_chx_ndarray = chainerx.ndarray


class Contents:
    """The parts of a file that Python knows.

    Args:
        recorded: The plan.
        parameters: The names of the parameters of the function.

    Attributes:
        inputs (list of str): The names of the inputs, in order.
        scalars (list): Pairs of the number of a call and its scalars.
        states (list): The number of an input, that of the result which takes its place in the
            next run, and the array of the moment; of each attribute that runs replace.

    """

    def __init__(self, recorded: Recorded, parameters: tuple[str, ...]) -> None:
        self._recorded = recorded
        arrays = list(_inputs_of(recorded.form, parameters))
        self._names = [name for name, _ in arrays]
        self.inputs = [name for name, is_numpy in arrays if not is_numpy]
        self.scalars: list[tuple[int, Scalars]] = []
        self.states: list[tuple[int, int, Any]] = []
        for effect in recorded.effects:
            effect.describe(self)

    def add_input(self, number: int) -> None:
        """Adds the array of NumPy that has a number among the arguments."""
        self.inputs.append(self._names[number])

    def add_state(self, attributes: dict[str, Any], name: str, array: Any, result: int) -> None:
        """Adds an input that each run replaces by one of its results: one of the attributes."""
        self.states.append((len(self.inputs), result, array))
        names = [n for n, part in _links_of(self._recorded, name) if vars(part) is attributes]
        self.inputs.append(names[0] if names else name)

    def write(self, path: str | PathLike[str]) -> None:
        """Writes the file."""
        recorded, plan = self._recorded, self._recorded.plan
        arrays = {
            name: array
            for name, array in _arrays_of(recorded)
            if type(array) is _chx_ndarray and plan.keeps(array)
        }
        outputs = dict(self._outputs())
        plan.save(
            str(path), recorded.scope.all_labels(), self.inputs,
            list(arrays), list(arrays.values()), list(outputs), list(outputs.values()),
            [[call, s.rule, s.updates] for call, s in self.scalars],
            [s.values for _, s in self.scalars],
            [[given, result] for given, result, _ in self.states],
            [array for *_, array in self.states],
        )  # fmt: skip

    def _outputs(self) -> Iterator[tuple[str, int]]:
        """Returns names of the arrays that the function returns, and numbers of the results."""
        # Recordings know only how to make the value of arrays.
        marks = [chainerx.zeros(()) for _ in range(self._recorded.plan.result_count)]
        numbers = {id(mark): i for i, mark in enumerate(marks)}
        for name, array in _parts_of(self._recorded.make_result(marks), 'result'):
            if id(array) in numbers:
                yield name, numbers[id(array)]


def _parts_of(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if type(value) in (tuple, list):
        for i, part in enumerate(value):
            yield from _parts_of(part, f'{name}[{i}]')
    elif type(value) is dict:
        for key, part in value.items():
            yield from _parts_of(part, f'{name}[{key!r}]')
    else:
        yield name, _trees.array_of(value)


def _inputs_of(form: Any, parameters: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Returns the names of the arrays in the form of arguments, and whether they are of NumPy."""
    keywords: Any = {}
    if form[0] is dict:
        _, form, (_, names, *parts) = form
        keywords = dict(zip(names, parts))
    _, *positional = form
    names = [*parameters, *[f'argument {i}' for i in range(len(parameters), len(positional))]]
    for name, part in [*zip(names, positional), *keywords.items()]:
        yield from _inputs_in(part, name)


def _inputs_in(form: Any, name: str) -> Iterator[tuple[str, bool]]:
    kind = form[0] if type(form) is tuple else form
    if kind is _trees.ARRAY or kind is Variable:
        yield name, False
    elif kind is _trees.NUMPY_ARRAY:
        yield name, True
    elif kind is tuple or kind is list:
        for i, part in enumerate(form[1:]):
            yield from _inputs_in(part, f'{name}[{i}]')
    elif kind is dict:
        for key, part in zip(form[1], form[2:]):
            yield from _inputs_in(part, f'{name}[{key!r}]')


def _roots_of(recorded: Recorded) -> Iterator[tuple[str, link.Link]]:
    """Returns the links that are in no other one, with what their names begin with."""
    links = [value for value in recorded.scope.known.values() if isinstance(value, link.Link)]
    children = {id(child) for parent in links for child in parent.links(skipself=True)}
    roots = [root for root in links if id(root) not in children]
    for i, root in enumerate(roots):
        yield f'{i}:' if i else '', root


def _links_of(recorded: Recorded, attribute: str) -> Iterator[tuple[str, link.Link]]:
    """Returns all links, with the names that an attribute of each would have."""
    for prefix, root in _roots_of(recorded):
        for path, part in root.namedlinks():
            yield _name_of(prefix, path, attribute), part


def _name_of(prefix: str, path: str, attribute: str) -> str:
    return prefix + f'{path}/{attribute}'.lstrip('/')


def _arrays_of(recorded: Recorded) -> Iterator[tuple[str, Any]]:
    """Returns the names and arrays of parameters, persistent values and states of optimizers."""
    for prefix, root in _roots_of(recorded):
        for path, part in root.namedlinks():
            for name in part._persistent:
                yield _name_of(prefix, path, name), vars(part)[name]
        for path, param in root.namedparams():
            name = prefix + path.removeprefix('/')
            yield name, param.raw_array
            rule = param.update_rule
            if rule is None:
                continue
            if (master := master_of(rule)) is not None:
                yield f'{name}/float32', master
            for key, state in (rule.state or {}).items():
                yield f'{name}/{key}', state
