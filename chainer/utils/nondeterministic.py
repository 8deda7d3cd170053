"""Warnings of nondeterministic computation."""
import warnings

from chainer import configuration


def nondeterministic(f_name):
    """Declares that a function may give different results from run to run.

    Warns when ``chainer.config.warn_nondeterministic`` is ``True``.

    Args:
        f_name (str): Name of the function.

    """
    if configuration.config.warn_nondeterministic:
        warnings.warn(f'Potentially non-deterministic code is being executed while config.'
                      f'warn_nondeterministic set. Source: {f_name}', stacklevel=3)
