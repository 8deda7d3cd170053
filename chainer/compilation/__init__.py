"""Functions whose calls are repeated without Python."""

from chainer.compilation._function import CompiledFunction as CompiledFunction, compile as compile
