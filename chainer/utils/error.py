"""Texts for error messages."""


def _format_array_props(arrays):
    """Returns the shapes and dtypes of arrays as text: ``'(2, 3):float32, None'``."""

    def text(x):
        if x is None:
            return 'None'
        if hasattr(x, 'shape') and hasattr(x, 'dtype'):
            return f'{x.shape}:{x.dtype}'
        return f'no shape and dtype:{type(x)}'

    return ', '.join(map(text, arrays))
