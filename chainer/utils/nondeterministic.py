"""Warnings of nondeterministic computation."""

from __future__ import annotations

import warnings

from chainer import configuration


def nondeterministic(f_name: str) -> None:
    """Declares that results of a function may differ between runs.

    It warns if ``chainer.config.warn_nondeterministic`` is ``True``.

    Args:
        f_name (str): Name of the function.

    .. admonition:: Example

        >>> import warnings
        >>> from chainer import utils
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter('always')
        ...     with chainer.using_config('warn_nondeterministic', True):
        ...         utils.nondeterministic('atomicAdd')
        >>> 'atomicAdd' in str(caught[0].message)
        True

    """
    if configuration.config.warn_nondeterministic:
        warnings.warn(
            f'Potentially non-deterministic code is being executed while config.'
            f'warn_nondeterministic set. Source: {f_name}',
            stacklevel=3,
        )
