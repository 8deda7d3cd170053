"""Warnings of experimental features."""
import warnings


def experimental(api_name):
    """Declares that a feature is experimental: calling this warns with a ``FutureWarning``.

    The warnings are silenced by ``chainer.disable_experimental_feature_warning = True``.

    Args:
        api_name (str): Name of the feature.

    """
    import chainer
    if not chainer.disable_experimental_feature_warning:
        warnings.warn(
            f'{api_name} is experimental. The interface can change in the future.',
            FutureWarning, stacklevel=3)
