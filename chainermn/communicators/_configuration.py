"""Configuration values of communicators."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainermn.means import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainermn.means import Reducer


class Configurable:
    """Object with configuration values, which a split communicator takes over."""

    def __init__(self) -> None:
        self._within_config_scope = False
        self._configs: dict[str, Any] = {}

    def _store_config(self, name: str, value: Any) -> None:
        self._configs[name] = value

    def set_config(self, name: str, **kwargs: Any) -> None:
        """Sets a configuration value.

        Raises:
            ValueError: If there is no such value.

        """
        raise ValueError(f'unknown config: {name!r}')

    def get_config(self, name: str | None = None) -> Any:
        """Returns a configuration value, or without a name the dictionary of all.

        Raises:
            ValueError: If there is no such value.

        """
        if name is None:
            return dict(self._configs)
        if name not in self._configs:
            raise ValueError(f'unknown config: {name!r}')
        return self._configs[name]

    @property
    def within_config_scope(self) -> bool:
        """Whether attributes that are set count as configuration, see :meth:`config_scope`."""
        return self._within_config_scope

    @contextlib.contextmanager
    def config_scope(self) -> Iterator[None]:
        """Context in which attributes that are set are part of the configuration.

        :meth:`split` passes the configuration on.
        """
        before, self._within_config_scope = self._within_config_scope, True
        try:
            yield
        finally:
            self._within_config_scope = before

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get('_within_config_scope') and name != '_within_config_scope':
            self._store_config(name, value)
        super().__setattr__(name, value)


class GradientConfiguration(Configurable):
    """Configuration values that say how gradients are averaged."""

    reducer: Reducer

    def __init__(self) -> None:
        super().__init__()
        self._configs.update(batched_copy=True, allreduce_grad_dtype=None)

    def set_config(self, name: str, value: Any = True, **kwargs: Any) -> None:
        """Sets a configuration value.

        Args:
            name (str): ``'allreduce_grad_dtype'``, the dtype in which gradients are sent:
                ``float16``, ``'bfloat16'``, ``float32``, ``float64``, ``int8``, or ``None`` for
                that of the gradients. Or ``'batched_copy'``, which has no effect.
            value: The value.

        Raises:
            ValueError: If there is no such value, or the communicator cannot send a dtype.
            TypeError: If there are further arguments.

        """
        if kwargs:
            raise TypeError(f'set_config got unexpected arguments: {", ".join(sorted(kwargs))}')
        if name == 'batched_copy':
            warnings.warn(
                "The configuration 'batched_copy' is deprecated: copies are always batched.",
                DeprecationWarning,
                stacklevel=2,
            )
        elif name != 'allreduce_grad_dtype':
            super().set_config(name)
        self._store_config(name, value)

    def _store_config(self, name: str, value: Any) -> None:
        if name == 'allreduce_grad_dtype':
            value = dtypes.name_of(value)
            self.reducer.dtype = value
        super()._store_config(name, value)

    def get_config(self, name: str | None = None) -> Any:
        value = super().get_config(name)
        if name == 'allreduce_grad_dtype' and value not in (None, 'bfloat16'):
            return numpy.dtype(value)
        return value
