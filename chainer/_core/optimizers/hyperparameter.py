"""Hyperparameters of optimizers and update rules."""

from __future__ import annotations

from typing import Any


class Hyperparameter:
    """A set of hyperparameters that falls back to a parent set.

    Set a value as an attribute. Unset attributes come from the parent, so a
    parameter's update rule follows the optimizer except for its own values.

    Args:
        parent (Hyperparameter): Parent set, or ``None``.

    .. admonition:: Example

        >>> from chainer import optimizer
        >>> parent = optimizer.Hyperparameter()
        >>> parent.lr = 0.1
        >>> child = optimizer.Hyperparameter(parent)
        >>> child.lr
        0.1
        >>> child.lr = 0.2
        >>> parent.lr
        0.1

    """

    __module__ = 'chainer.optimizer'  # the name in pickles and messages

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        self._parent = parent

    # Python calls it only for attributes that the object lacks, so own values cost nothing more.
    def __getattr__(self, name: str) -> Any:
        # Unpickling reads attributes before _parent exists.
        parent = None if name == '_parent' else self._parent
        if parent is None:
            raise AttributeError(f'{type(self).__name__} has no value of {name!r}')
        return getattr(parent, name)

    def __repr__(self) -> str:
        values = ', '.join(f'{name}={value}' for name, value in sorted(self.get_dict().items()))
        return f'{type(self).__name__}({values})'

    @property
    def parent(self) -> Hyperparameter | None:
        """The parent set, or ``None``."""
        return self._parent

    def get_dict(self) -> dict[str, Any]:
        """Returns a dictionary of all values, including the parent's."""
        # Own values last: they hide those of the parent, as in attribute access.
        values = {} if self._parent is None else self._parent.get_dict()
        values.update(self.__dict__)
        del values['_parent']
        return values


class HyperparameterProxy:
    """Descriptor that shows an entry of ``self.hyperparam`` as an attribute.

    Args:
        attr_name (str): Name of the hyperparameter.

    .. admonition:: Example

        >>> class Method(chainer.GradientMethod):
        ...     lr = chainer.optimizer.HyperparameterProxy('lr')
        >>> method = Method()
        >>> method.lr = 0.1
        >>> method.hyperparam
        Hyperparameter(lr=0.1)

    """

    __module__ = 'chainer.optimizer'  # the name in pickles and messages

    def __init__(self, attr_name: str) -> None:
        self._attr_name = attr_name
        self.__doc__ = f'Alias to ``self.hyperparam.{attr_name}``'

    def __get__(self, obj: Any, type: Any = None) -> Any:
        # Read from the class, it is itself, so that documentation tools find its docstring.
        if obj is None:
            return self
        return getattr(obj.hyperparam, self._attr_name)

    def __set__(self, obj: Any, value: Any) -> None:
        setattr(obj.hyperparam, self._attr_name, value)
