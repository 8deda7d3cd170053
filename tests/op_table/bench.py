"""How an op is timed: the same expression for NumPy, PyTorch and chainerx, and its arrays."""

from op_table.inputs import In

_SMALL = {'a': In(4, 4, low=0.1, high=1), 'b': In(4, 4, low=0.2, high=2)}
_ELEMENTS = 1000000


class Bench:
    """An expression to time in each library.

    ``numpy``, ``torch`` and ``chx`` are expressions of the arrays' names, or pairs of code that runs
    once before and such an expression. ``xp`` is the library itself. ``numpy`` is None where NumPy
    has no such operation; ``torch`` is that of NumPy unless given, and ``chx`` that of PyTorch.

    Args:
        arrays: Shape or :class:`~op_table.inputs.In` of each array, by name; those of the op's row
            unless given.
        label: What the table of times calls it; chainerx's expression unless given.
        dtype: dtype of the arrays.
        small: Whether it shows the cost of a call, rather than that of the elements.
        check: Whether the libraries must compute the same.

    """

    def __init__(self, numpy, torch=None, chx=None, *, label=None, dtype='float32', small=False, check=True, **arrays):
        torch = torch or numpy
        self.sources = {'numpy': numpy, 'torch': torch, 'bare': chx or torch}
        self.label = label or self._default_label(dtype)
        self.dtype = dtype
        self.small = small
        self.check = check
        self.arrays = {name: x if isinstance(x, In) else In(*x) for name, x in arrays.items()}

    def _default_label(self, dtype):
        source = self.sources['bare']
        expression = source[1] if isinstance(source, tuple) else source
        return expression.replace('xp.', '') + ('' if dtype == 'float32' else f' {dtype}')


def small(*sources, **options):
    """The cost of a call: arrays of 4x4 elements."""
    return Bench(*sources, small=True, **_SMALL, **options)


def matrix(*sources, shape=(1000, 1000), low=-1, high=1, **options):
    """An expression of one large array."""
    return Bench(*sources, a=In(*shape, low=low, high=high), **options)


def product(m, n, k, left='a', right='b'):
    """A product of matrices, one or both of them transposed."""
    return Bench(f'{left} @ {right}', label=f'{left} @ {right}, {m}x{k}x{n}',
                 a=(k, m) if 'T' in left else (m, k), b=(n, k) if 'T' in right else (k, n))


def with_gradient(torch, chx, gy, **arrays):
    """The forward pass, and the forward pass with the backward pass by x."""
    forward = Bench(None, torch, chx, **arrays)
    return [forward, Bench(
        None, ('x.requires_grad_()', f'torch.autograd.grad({torch}, x, gy)[0]'),
        ('x.require_grad()', f'xp.grad([{chx}], [x], grad_outputs=[gy])[0]'),
        label=f'{forward.label}, forward and backward', gy=gy, **arrays)]


def backward(torch, chx, by, label, **arrays):
    """The backward pass alone, by one array. Recording it keeps the graph of the forward pass."""
    return Bench(
        None, (f'{by}.requires_grad_()\ny = {torch}', f'torch.autograd.grad(y, {by}, gy, retain_graph=True)[0]'),
        (f'{by}.require_grad()\ny = {chx}',
         f'xp.grad([y], [{by}], grad_outputs=[gy], enable_double_backprop=True)[0]'),
        label=f'{label} backward by {by}', **arrays)


def elementwise(name, specs, bench):
    """Gives the benchmarks of an elementwise op a million elements from the op's domain.

    A dtype among the benchmarks times the function of the op's name in that dtype.
    """
    names = 'abc'[:len(specs)]
    arrays = {key: In(_ELEMENTS, low=s.low, high=s.high, dtype=s.dtype) for key, s in zip(names, specs)}
    expression = f'xp.{name}({", ".join(names)})'
    made = [Bench(expression, dtype=b) if isinstance(b, str) else b for b in bench]
    for b in made:
        b.arrays = b.arrays or arrays
    return made
