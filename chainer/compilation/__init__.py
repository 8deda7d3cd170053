"""Functions whose calls are repeated without Python."""

from chainer.compilation._function import CompiledFunction as CompiledFunction, compile as compile
from chainer.compilation._saved_plan import SavedPlan as SavedPlan
