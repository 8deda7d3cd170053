from chainer.compilation._function import CompiledFunction as CompiledFunction, compile as compile
