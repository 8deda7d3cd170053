"""Warnings of experimental features."""

from __future__ import annotations

import sys
import warnings


def experimental(api_name: str) -> None:
    """Declares that a feature is experimental: it issues a ``FutureWarning``.

    ``chainer.disable_experimental_feature_warning = True`` silences the warnings.

    Args:
        api_name (str): Name of the feature.

    .. admonition:: Example

        >>> import warnings
        >>> from chainer import utils
        >>> def fast_path():
        ...     utils.experimental('my_package.fast_path')
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter('always')
        ...     fast_path()
        >>> print(caught[0].message)
        my_package.fast_path is experimental. The interface can change in the future.

    """
    # Users set the switch on the root, which imports this module.
    if not sys.modules['chainer'].disable_experimental_feature_warning:
        warnings.warn(
            f'{api_name} is experimental. The interface can change in the future.',
            FutureWarning,
            stacklevel=3,
        )
