"""Conversion of batches (lists of examples) to arrays."""

from __future__ import annotations

from chainer.dataset._async_transfer import (  # noqa: F401
    ConcatWithAsyncTransfer as ConcatWithAsyncTransfer,
    Conveyor as Conveyor,
)
from chainer.dataset._concat import (  # noqa: F401
    concat_arrays as _concat_arrays,
    concat_arrays_with_padding as _concat_arrays_with_padding,
    concat_examples_func as concat_examples_func,
)
from chainer.dataset._converters import (  # noqa: F401
    Converter as Converter,
    _ArbitraryCallableConverter,
    call_converter as _call_converter,
    converter as converter,
    to_device as to_device,
)

concat_examples: _ArbitraryCallableConverter = _ArbitraryCallableConverter(concat_examples_func)
