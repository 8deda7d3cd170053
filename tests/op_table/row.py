"""The kinds of rows of the table."""

import chainerx
from op_table import bench as benchmarks
from op_table.inputs import In

FLOATS = 'float16', 'float32', 'float64'
INTS = 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'
NUMBERS = INTS + FLOATS
ALL = ('bool',) + NUMBERS


class Row:
    """An op.

    Args:
        name: Name in ``chainerx``.
        reference: Function of NumPy arrays; computes in double precision.
        cases: Lists of inputs (:class:`~op_table.inputs.In`) and keyword arguments (a dict at the end).
        dtypes: Dtypes of the inputs.
        result: Kind of the result's dtype: ``'same'`` (of several: the promoted one), ``'first'``
            (that of the first input), ``'float'`` (floating point inputs keep
            theirs, others become float32), ``'bool'``, ``'int64'``, ``'sum'`` (integers
            become int64, and uint64 stays), or ``None``: not compared.
        grad, double: Whether the op has a first and a second derivative.
        elementwise: Whether inputs broadcast and any shape is fine.
        call: Calls the op, where its arguments are not the inputs one by one.
        tolerance: How many times the usual tolerance of each dtype is allowed.
        grad_inputs: Indices of the floating point inputs that have a gradient; all unless given.
        ulp: The most that float32 results of any input may be off in units in the last place, and
            the range that is sampled densely: ``(bound, low, high)``.
        gpu_ulp: That bound on GPUs, where CUDA's functions need another one.
        wrong: Calls that only this op must refuse: pairs of the error and a function of the op.
        allows: What this op takes although others refuse it: ``'devices'`` that differ, ``'repeated axes'``,
            ``'NumPy indices'``.
        bench: Benchmarks (:class:`~op_table.bench.Bench`); for elementwise ops, a dtype is one of a
            million elements.

    """

    def __init__(self, name, reference, cases, dtypes=FLOATS, result='same', *, grad=True, double=True, elementwise=False,
                 call=None, tolerance=1, grad_inputs=None, ulp=None, gpu_ulp=None, wrong=(), allows=(), bench=()):
        self.name = name
        self.reference = reference
        self.cases = [(c[:-1], c[-1]) if isinstance(c[-1], dict) else (c, {}) for c in map(tuple, cases)]
        self.dtypes = dtypes
        self.result = result
        self.grad = grad
        self.double = double
        self.elementwise = elementwise
        self.call = call or (lambda f, arrays, kwargs: f(*arrays, **kwargs))
        self.tolerance = {'float16': 4e-3 * tolerance, 'bfloat16': 3e-2 * tolerance,
                          'float32': 2e-6 * tolerance, 'float64': 1e-12 * tolerance}
        self.grad_inputs = grad_inputs
        self.ulp = ulp
        self.gpu_ulp = gpu_ulp
        self.wrong = wrong
        self.allows = allows
        self.bench = benchmarks.elementwise(name, self.cases[0][0], bench) if elementwise else bench

    def __repr__(self):
        return self.name


class OtherRow:
    """An op that a file tests by itself, since it has no input arrays, draws at random, or changes its arguments.

    Args:
        name: Name in ``chainerx``.
        tests: That file.
        example: Function that makes the arguments of a right call.
        wrong, bench: As for :class:`Row`.

    """

    def __init__(self, name, tests, example, *, wrong=(), bench=()):
        self.name = name
        self.tests = tests
        self.example = example
        self.wrong = wrong
        self.bench = bench


def unary(name, reference, low=-2, high=2, avoid=(), dtypes=NUMBERS, result='float', **options):
    return Row(name, reference, [[In(2, 3, low=low, high=high, avoid=avoid)]], dtypes, result, elementwise=True, **options)


def binary(name, reference, dtypes=NUMBERS, result='same', first=(-2, 2), second=(-2, 2), avoid=(), **options):
    a = {'low': first[0], 'high': first[1]}
    b = {'low': second[0], 'high': second[1], 'avoid': avoid}
    cases = [[In(2, 3, **a), In(2, 3, **b)], [In(2, 1, 3, **a), In(4, 1, **b)]]
    return Row(name, reference, cases, dtypes, result, elementwise=True, **options)


def reduction(name, reference, dtypes=NUMBERS, result='same', keepdims=True, axes=True, distinct=False, low=-2, high=2,
              **options):
    x = In(2, 3, 4, distinct=distinct, low=low, high=high)
    cases = [[x], [x, {'axis': 1}], [x, {'axis': -1}]]
    if axes:
        cases.append([x, {'axis': (0, 2)}])
    if keepdims:
        cases.append([x, {'axis': 1, 'keepdims': True}])
    return Row(name, reference, cases, dtypes, result, **options)


def sequence(f, arrays, kwargs):
    """Calls an op that takes its arrays as one list."""
    return f(list(arrays), **kwargs)


def zeros(*shape, dtype='float32', device=None):
    return chainerx.zeros(shape, dtype, device)


def indices(*values):
    return chainerx.array(values, 'int64')
