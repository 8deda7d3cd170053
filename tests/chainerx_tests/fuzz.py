"""Random calls of everything: ``python fuzz.py SEED COUNT``.

Each call is a line of Python, printed before it runs: when the process dies, the last line did it. What goes on is
reported in lines that begin with ``BAD``: errors of a kind that no wrong call may raise, arrays whose size is not that
of their shape, and targets of assignments that failed but changed them.
"""
import faulthandler
import gc
import inspect
import math
import os
import random
import sys
import warnings

try:
    import resource
except ImportError:
    resource = None

import numpy as np

import chainerx as xp

DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'float16', 'float32', 'float64']
SHAPES = ['()', '(0,)', '(1,)', '(3,)', '(2, 2)', '(2, 3)', '(4, 1)', '(0, 3)', '(3, 0)', '(2, 3, 4)', '(1, 2, 5, 5)',
          '(4, 2, 2, 2)', '(2, 12)', '(2,) * 9', '(1,) * 16', '(17, 19)', '(130,)']
INTEGERS = [0, 1, 2, 3, -1, -2, 5, 17, 127, -129, 2 ** 33, 2 ** 40, 2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 63,
            -2 ** 100]
NUMBERS = ['0.5', '-1.0', 'float("nan")', 'float("inf")', '1e300', '5e-324', 'True', 'np.float32(2)', 'np.int8(-3)',
           'np.uint64(2 ** 63)', 'np.bool_(True)', '1j', 'np.str_("1")', 'np.datetime64("2000")']
OBJECTS = ['None', 'Raises()', '"x"', '""', 'b"abc"', '"\\udc80"', '"a\\0b"', '[]', '[[1], [2, 3]]', '[None]', '...',
           'slice(None, None, 0)', 'slice(2 ** 70, -2 ** 70, -2 ** 70)', 'slice("a")', 'Lies()', 'range(3)', 'iter([1, 2])',
           'object()', 'np.array([1, "a"], object)', 'np.zeros(3, ">f4")', 'np.zeros(3, "M8[s]")', 'np.zeros(3, "c8")',
           'np.zeros(17, "u1")[1:].view("f8")', 'np.broadcast_to(1.0, (3,))', 'np.ones((2, 3))[::-1, ::-1]',
           'np.zeros((1,) * 20)', 'memoryview(b"abcd")', 'bytearray(8)', 'xp.get_device("native:1")', 'xp', 'float',
           '"float32"', '"native:1"', '"raise"', '"clip"', '"fro"', '"nuc"', '"i,j->ij"', '"...i->i"', '"unsafe"']
OPERATORS = '+ - * / // % ** @ & | ^ << >> == < >='.split()
OVERLAPS = ['x += x.T', 'x[1:] += x[:-1]', 'x[...] = x[::-1]', 'x[::-1] = x', 'x -= x[0]', 'x[x > 0] = x', 'x[0] = x']
EXPECTED = (xp.ChainerxError, TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError, AttributeError,
            ZeroDivisionError, StopIteration, np.linalg.LinAlgError, KeyError)
# What changes the process, reads files, or takes addresses.
EXCLUDED = {'_set_num_threads', 'set_global_default_context', 'set_default_context', 'loadtxt', 'fromfile',
            '_fromrawpointer', 'set_default_device'}


class Raises:
    def __getattr__(self, name):
        raise KeyError(name)

    def __index__(self, *args):
        raise KeyError

    __float__ = __iter__ = __len__ = __bool__ = __array__ = __repr__ = __index__


class Lies:
    """Has other lengths and contents than it says."""

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        gc.collect(0)
        if i > 2:
            raise IndexError
        return i

    def __array__(self, *args, **kwargs):
        return 3


def array(shape, dtype, seed, change):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * rng.choice([1, 3, 1e30])
    if dtype.startswith('f') and seed % 4 == 0:
        values = np.where(values < 0, rng.choice([np.nan, np.inf, -np.inf, 5e-324], shape), values)
    x = xp.array(np.asarray(values if dtype.startswith('f') else np.clip(values, 0, 100)).astype(dtype))
    if change == 'reversed':
        return x[(slice(None, None, -1),) * x.ndim]
    if change == 'broadcast' and x.ndim < 16:
        return xp.broadcast_to(x, (2, *x.shape))
    if change == 'graph' and dtype.startswith('f'):
        return x.require_grad() * 2
    return {'transposed': x.T, 'device': x.to_device('native:1')}.get(change, x)


def signature(f):
    text = getattr(f, '__text_signature__', None) or '()'
    try:
        parameters = eval('inspect.signature(lambda {}: 0)'.format(text.strip('()').replace('$', '')), {'inspect': inspect})
    except SyntaxError:
        return []
    return [p.name for p in parameters.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != 'self']


FUNCTIONS = [(f'{module}.{name}', signature(f))
             for module, members in (('xp', vars(xp)), ('xp.linalg', vars(xp.linalg)), ('xp.random', vars(xp.random)),
                                     ('xp._core', vars(xp._core)))
             for name, f in sorted(members.items())
             if callable(f) and not isinstance(f, type) and name not in EXCLUDED and not name.startswith('__')]
METHODS = [(name, signature(f)) for name, f in sorted(vars(xp.ndarray).items()) if callable(f)]


class Writer:
    """Writes random calls."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def choose(self, *weighted):
        return self.random.choices([w[1] for w in weighted], [w[0] for w in weighted])[0]()

    def one(self, items):
        return self.random.choice(items)

    def array(self):
        dtype = self.one([*DTYPES, 'float32', 'float32', 'int64'])
        change = self.one(['', '', '', 'reversed', 'transposed', 'broadcast', 'graph', 'graph', 'device'])
        return f'array({self.one(SHAPES)}, {dtype!r}, {self.random.randrange(40)}, {change!r})'

    def huge(self):
        shape = self.one(['(2 ** 62,)', '(2 ** 31, 2 ** 31)', '(2 ** 31, 0)', '(2 ** 60, 1, 1, 1)'])
        return f'xp.broadcast_to(xp.ones((1,) * len({shape}), "int8"), {shape})'

    def integer(self):
        return repr(self.one(INTEGERS[:8] if self.random.random() < .7 else INTEGERS))

    def items(self, make):
        return '({})'.format(''.join(make() + ', ' for _ in range(self.one([0, 1, 1, 2, 2, 3, 18]))))

    def value(self):
        return self.choose((6, self.array), (4, self.integer), (2, lambda: self.one(NUMBERS)),
                           (3, lambda: self.one(OBJECTS)), (3, lambda: self.items(self.integer)),
                           (2, lambda: self.items(self.array)), (1, lambda: self.items(self.value)))

    def argument(self, name):
        if self.random.random() < .2:
            return self.value()
        if name in ('axis', 'axes', 'shape', 'newshape', 'reps', 'size', 'repeats', 'stride', 'pad', 'dilate', 'outsize',
                    'shift', 'ksize', 'indices', 'indices_or_sections'):
            return self.choose((1, self.integer), (1, lambda: self.items(self.integer)), (1, lambda: self.one(SHAPES)))
        if name in ('n', 'N', 'M', 'k', 'num', 'offset', 'groups', 'count', 'n_layers', 'index'):
            return self.integer()
        if name in ('arrays', 'inputs', 'outputs', 'xs', 'xi', 'hx', 'cx', 'ws', 'bs'):
            return self.items(self.array)
        if name == 'dtype':
            return repr(self.one(DTYPES))
        return self.array()

    def call(self, name, parameters):
        n = self.random.randint(0, len(parameters)) if self.random.random() < .4 else len(parameters)
        arguments = [self.argument(p) for p in parameters[:n]]
        arguments += [f'{p}={self.argument(p)}' for p in parameters[n:] if self.random.random() < .3]
        if self.random.random() < .05:
            arguments = [self.value() for _ in range(self.one([0, 1, 2, 3, 13]))]
        return f'{name}({", ".join(arguments)})'

    def key(self):
        return self.choose(
            (2, self.integer), (2, lambda: 'slice({}, {}, {})'.format(*tuple(self.integer() for _ in range(3)))),
            (1, lambda: f'array({self.one(SHAPES[:6])}, {self.one(["bool", "int64", "float32"])!r}, 1, "")'),
            (1, lambda: self.one(OBJECTS)), (1, lambda: self.items(self.integer)), (2, lambda: self.items(self.key)))

    def line(self):
        """What makes a target ``x``, if anything, and what to do."""
        x = self.array()
        return self.choose(
            (20, lambda: ('', 'y = ' + self.call(*self.one(FUNCTIONS)))),
            (6, lambda: (f'x = {x}', 'y = ' + self.call('x.' + (m := self.one(METHODS))[0], m[1]))),
            (4, lambda: ('', f'y = {x} {self.one(OPERATORS)} {self.value()}')),
            (1, lambda: ('', f'y = {self.value()} {self.one(OPERATORS)} {x}')),
            (3, lambda: (f'x = {x}', f'x {self.one(OPERATORS[:13])}= {self.value()}')),
            (2, lambda: (f'x = {x}', self.one(OVERLAPS))),
            (3, lambda: ('', f'y = {x}[{self.key()}]')),
            (4, lambda: (f'x = {x}', f'x[{self.key()}] = {self.value()}')),
            (1, lambda: ('', f'y = xp.grad([{x}], [{self.array()}])')),
            (1, lambda: ('', f'y = xp.{self.one(["tile", "reshape", "repeat", "concatenate", "stack", "take"])}('
                         f'{self.huge()}, {self.items(self.integer)})')))


def contents(x):
    return bytes(memoryview(x.as_grad_stopped()))


def check(result):
    for x in result if isinstance(result, (list, tuple)) else [result]:
        if isinstance(x, xp.ndarray):
            assert x.size == math.prod(x.shape) and x.nbytes == x.size * x.itemsize, x.shape
            if x.size < 100:
                repr(x)


def main(seed, count):
    faulthandler.enable()
    # What asks for more gets a MemoryError. A sanitizer, which takes terabytes, has a limit of its own.
    if resource is not None and 'CHAINER_SANITIZER' not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    warnings.simplefilter('ignore')
    writer = Writer(seed)
    for i in range(count):
        gc.set_threshold(1 if i % 50 == 0 else 700)
        make, run = writer.line()
        print(ascii(f'{make}; {run}'), flush=True)
        faulthandler.dump_traceback_later(30, exit=True)
        names = dict(globals())
        before = None
        try:
            exec(make, names)
            before = contents(names['x']) if make else None
            exec(run, names)
            check(names.get('y'))
        except EXPECTED as error:
            if before is not None and contents(names['x']) != before:
                print('BAD: changed by', ascii(error))
        except BaseException as error:
            print('BAD:', type(error), ascii(error))
        faulthandler.cancel_dump_traceback_later()


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]))
