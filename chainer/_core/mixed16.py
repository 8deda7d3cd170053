"""Mixed precision, as a dtype."""

import numpy


class _Mixed16:
    """Pseudo dtype: float16, and float32 where a link needs the precision for its parameters."""

    __slots__ = ()

    dtype = numpy.dtype(numpy.float16)

    def __repr__(self):
        return "dtype('mixed16')"

    __str__ = __repr__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return 'mixed16'


mixed16 = _Mixed16()
