"""Engines have one signature. mypy checks this file; nothing runs it."""

from chainer._core.engines import arrays, chainerx, fallback, kernels
from chainer._core.engines.engine import Engine

ENGINES: list[Engine] = [
    arrays.run,
    kernels.run,
    kernels.run_on_cupy,
    chainerx.run,
    fallback.engine('float16'),
]
