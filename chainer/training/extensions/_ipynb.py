import builtins


def is_notebook():
    """Returns whether the program runs in a Jupyter notebook."""
    # IPython puts this function into the builtins.
    get_ipython = getattr(builtins, 'get_ipython', None)
    return get_ipython is not None and type(get_ipython()).__name__ == 'ZMQInteractiveShell'
