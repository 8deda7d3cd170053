import functools


def static_code(*dec_args, **dec_kwargs):
    """Declares a function with side effects, so that a static graph would run it again.

    Usable as ``@static_code`` and as ``@static_code()``. The function is called as it is: graphs
    are recorded by every call.
    """
    if len(dec_args) == 1 and callable(dec_args[0]) and not dec_kwargs:
        return _as_it_is(dec_args[0])
    if dec_args:
        raise TypeError(f'static_code decorates functions, not {type(dec_args[0])}')
    return _as_it_is


def _as_it_is(func):
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def static_forward_optimizations(func, inputs):
    """Runs the forward computation of a function.

    Args:
        func (~chainer.FunctionNode): Function.
        inputs (tuple of arrays): Inputs.

    Returns:
        tuple of arrays: Outputs.

    """
    return func.forward(inputs)
