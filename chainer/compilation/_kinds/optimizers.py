"""Optimizers, update rules and their hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import optimizer
from chainer.compilation._kinds.kind import Kind, names
from chainer.compilation._kinds.ownership import is_own_object
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Scope

#: Public attributes of optimizers and update rules that updates change, or that are watched
#: otherwise. Code that reads others by names which it makes reads no private ones.
_OF_UPDATES = frozenset('target t epoch hyperparam update'.split())


def _watch_optimizer(scope: Scope, value: Any, label: str) -> None:
    update = type(value).update
    if update is not optimizer.GradientMethod.update or not is_own_object(update):
        raise GraphBreak(f'{label} has an update of its own')
    scope.optimizers.append(value)
    if scope.passes_loss_scales and is_scalar(value._loss_scale):
        scope.scaling[id(value)] = value
    # The update goes over all parameters of the link, whether code names it or not.
    if value.target is not None:
        scope.visit(value.target, f'{label}.target')
    _watch_rule(scope, value, label)


def is_scalar(loss_scale: Any) -> bool:
    """Tells whether kernels can have a loss scale as a scalar, which each run reads again."""
    kind = type(loss_scale)
    return kind is float or (kind is int and loss_scale < 1 << 53)


def _watch_rule(scope: Scope, value: Any, label: str) -> None:
    """Watches what code reads of an optimizer or an update rule; updates are no part of that."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    # Such as `alpha_t` of Adam: the plan would keep the value of the recording.
    for name in sorted(scope.names):
        computed = getattr(kind, name, None)
        if isinstance(computed, property) and is_own_object(computed):
            lines = scope.lines_that_read(name)
            raise GraphBreak(f'{label}.{name} is computed at each update{lines}')
    # Updates follow other attributes, such as learning rates, in each run.
    always = 'update', 'target', 'hyperparam', '_loss_scale', '_use_cleargrads'
    followed = {'_loss_scale'} if id(value) in scope.scaling else set()
    _watch_entries(scope, value, label, {*always}, followed)
    _watch_entries(scope, value.hyperparam, label, set())


def _watch_entries(
    scope: Scope, value: Any, label: str, always: set[str], followed: set[str] | None = None
) -> None:
    attributes = vars(value)
    read = (scope.names & attributes.keys()) | always
    if scope.reads_any:
        is_set = isinstance(value, optimizer.Hyperparameter)  # of numbers that may change at will
        public = {name for name in attributes if not name.startswith('_')}
        read |= set() if is_set else public - _OF_UPDATES
    for name in sorted(read - (followed or set())):
        scope.add(scope.watch.add_entry, f'{label}.{name}', attributes, name)
        if name in scope.names or name not in always:
            scope.visit_if_read(name, attributes.get(name), f'{label}.{name}')
    # Attributes that are not there may come.
    scope.add(scope.watch.add_attributes, f'attributes of {label}', value, tuple(attributes))


def _watch_hyperparameters(scope: Scope, value: Any, label: str) -> None:
    scope.visit(type(value), type(value).__name__)
    _watch_entries(scope, value, label, {'_parent'})
    scope.visit(value._parent, label)


#: By a class that the type derives from.
BASES: dict[type, Kind] = {
    optimizer.Optimizer: Kind(_watch_optimizer, ended=names('get_dict')),
    optimizer.UpdateRule: Kind(_watch_rule, ended=names('get_dict')),
    optimizer.Hyperparameter: Kind(_watch_hyperparameters, ended=names('get_dict')),
}
