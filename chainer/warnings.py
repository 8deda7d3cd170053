"""Warning categories."""


class PerformanceWarning(RuntimeWarning):
    """Warning of an operation that works, but slower than it could.

    .. admonition:: Example

        >>> from chainer.warnings import PerformanceWarning
        >>> issubclass(PerformanceWarning, RuntimeWarning)
        True

    """
