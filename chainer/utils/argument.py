"""Keyword arguments of functions that had other ones in the past."""
import inspect


def check_unexpected_kwargs(kwargs, **unexpected):
    """Raises an error with a hint, if an argument is given that is no longer supported.

    Args:
        kwargs (dict): Keyword arguments of a function.
        unexpected (str): Messages by the name of the argument.

    Raises:
        ValueError: If one of ``unexpected`` is in ``kwargs``.

    """
    for key, message in unexpected.items():
        if key in kwargs:
            raise ValueError(message)


def assert_kwargs_empty(kwargs):
    """Raises an error if keyword arguments are left.

    Args:
        kwargs (dict): Keyword arguments that the calling function has not taken.

    Raises:
        TypeError: If there are any.

    """
    if kwargs:
        _raise_unexpected(kwargs, inspect.currentframe().f_back)


def parse_kwargs(kwargs, *name_and_values, **unexpected):
    """Takes keyword arguments with defaults.

    Args:
        kwargs (dict): Keyword arguments of a function.
        name_and_values: Pairs of names and default values.
        unexpected (str): Messages for arguments that are no longer supported.

    Returns:
        tuple: Values in the order of the pairs.

    Raises:
        ValueError: If one of ``unexpected`` is in ``kwargs``.
        TypeError: If ``kwargs`` has other names.

    """
    if unexpected:
        check_unexpected_kwargs(kwargs, **unexpected)
    values = tuple([kwargs.get(name, default) for name, default in name_and_values])
    names = [name for name, _ in name_and_values]
    if any(key not in names for key in kwargs):
        _raise_unexpected([key for key in kwargs if key not in names],
                          inspect.currentframe().f_back)
    return values


def _raise_unexpected(keys, frame):
    names = ', '.join(f"'{key}'" for key in sorted(keys))
    raise TypeError(f'{frame.f_code.co_name}() got unexpected keyword argument(s) {names}')
