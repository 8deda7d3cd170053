"""Writes random calls of everything, each a line of Python that ``hostile`` has the names for."""

from __future__ import annotations

import importlib
import inspect
import random
import re
from collections.abc import Callable
from typing import Any

import chainerx as xp


def _items(text: str) -> list[str]:
    return re.split(r'\s*\|\s*', text.strip())


DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'float16', 'float32', 'float64']
SHAPES = _items("""
()|(0,)|(1,)|(3,)|(2, 2)|(2, 3)|(4, 1)|(0, 3)|(3, 0)|(2, 3, 4)|(1, 2, 5, 5)|(4, 2, 2, 2)
|(2, 12)|(2,) * 9|(1,) * 16|(17, 19)|(130,)""")
INTEGERS = [0, 1, 2, 3, -1, -2, 5, 17]
HUGE = [127, -129, 2**33, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**100)]
NUMBERS = _items("""
0.5|-1.0|float("nan")|float("inf")|1e300|5e-324|True|np.float32(2)|np.int8(-3)
|np.uint64(2 ** 63)|np.bool_(True)|1j|np.str_("1")|np.datetime64("2000")""")
OBJECTS = _items(r"""
None|"x"|""|b"abc"|"\udc80"|"a\0b"|[]|[[1], [2, 3]]|[None]|...|slice(None, None, 0)
|slice(2 ** 70, -2 ** 70, -2 ** 70)|slice("a")|range(3)|iter([1, 2])|object()|{}|{"\udcff": 1}
|Raises()|Lies()|Changes()|Dies()|nested()|deep()|[Dies(), "x"]|int|print
|(lambda *args, **kwds: None)
|np.array([1, "a"], object)|np.zeros(3, ">f4")|np.zeros(3, "M8[s]")|np.zeros(3, "c8")
|np.zeros(17, "u1")[1:].view("f8")|np.broadcast_to(1.0, (3,))|np.ones((2, 3))[::-1, ::-1]
|np.zeros((1,) * 20)|memoryview(b"abcd")|bytearray(8)|xp|float|"float32"|"native:1"|"@numpy"|"raise"
|"clip"|"fro"|"nuc"|"i,j->ij"|"...i->i"|"unsafe"|chainer.Variable(np.ones((2, 3), "f"))
|chainer.Parameter(0, (2, 3))|chainer.Parameter()|chainer.Variable(None)|new(chainer.Variable)
|chainer.links.Linear(3, 2)|new(chainer.Chain)|chainer.Sequential()|[(1, 2), (3, 4)]
|"x" * 10 ** 6""")
CHAINERX_OBJECTS = _items("""
xp.get_device("native:1")|xp.get_backend("native")|xp.Context()|new(xp.ndarray)
|xp.get_default_context()|xp.get_default_context().make_backprop_id("x")|xp.no_backprop_mode()
|xp.force_backprop_mode()|xp.using_device("native:1")|xp.context_scope(xp.Context())|xp.anygraph
|xp.backprop_scope("x")|new(xp.Context)|xp.ones(3)|xp.ones(3).require_grad()
|xp.ones(3).__dlpack__()|Capsule()|EndsContext()|[EndsContext()] * 2
|xp.Context().get_device("native")
|xp._core._numpy_outputs([], [array((2,), "float32", 1, "graph")])[1]
|xp.context_scope(xp.get_default_context())""")
OPERATORS = '+ - * / // % ** @ & | ^ << >> == < >='.split()
OVERLAPS = _items("""
x += x.T|x[1:] += x[:-1]|x[...] = x[::-1]|x[::-1] = x|x -= x[0]|x[x > 0] = x
|x[0] = x""")
PROTOCOLS = _items("""
repr(x)|hash(x)|bool(x)|len(x)|list(x)|int(x)|float(x)|copy.copy(x)
|copy.deepcopy(x)|memoryview(x)|weakref.ref(x)()|dir(x)|vars(x)|x()|x(**{"\\udcff": 1})
|type(x)(**{"\\udcff": 1})
|type(x).__mro__[1]()|derived(type(x))|new(type(x))|x.__init__()|x.__reduce_ex__(0)
|pickle.loads(pickle.dumps(x, 0))|pickle.loads(pickle.dumps(x, 2))|pickle.loads(pickle.dumps(x))
|copy.deepcopy([x, x])|iter(x)|x == x|x < x|str(x)|object.__new__(type(x))|type(x).__new__(object)
|type(x).__init__(1)|gc.get_referents(x)|delete_all(x)|x.__dict__|x.__weakref__|x.__reduce_ex__(5)
|x.__enter__(), x.__enter__()|x.__exit__(), x.__exit__()|x.__setstate__({})
|x.__enter__(), x.__exit__(None, None, None)|x.__exit__(None, None, None)""")
SHAPE_NAMES = """axis axes shape newshape reps size repeats stride pad dilate outsize shift ksize
indices indices_or_sections""".split()
COUNT_NAMES = """n N M k num offset groups count n_layers index in_size out_size in_channels
out_channels batch_size n_units iteration""".split()
LIST_NAMES = 'arrays inputs outputs xs xi hx cx ws bs'.split()
CHAINER_MODULES = """chainer chainer.functions chainer.links chainer.optimizers chainer.initializers
chainer.optimizer_hooks chainer.distributions chainer.datasets chainer.dataset chainer.iterators
chainer.serializers chainer.training chainer.training.extensions chainer.training.triggers
chainer.training.updaters chainer.backend chainer.utils chainer.reporter chainer.function_hooks
chainer.link_hooks chainer.computational_graph chainer.dataset.tabular chainer.gradient_check
chainer.utils.type_check chainer.dataset.convert chainer.functions.rnn.n_step_rnn""".split()
# What changes the process, reads files or takes addresses; starts processes; is large. Editable
# installs have nothing for get_cmake_dir.
EXCLUDED = re.compile(
    '_?set_.*|get_cmake_dir|loadtxt|fromfile|_fromrawpointer|__.*|.*Multi(process|node|Node).*|ParallelUpdater'
    '|VGG.*|ResNet.*|GoogLeNet'
)


def _signature(f: Any) -> list[str]:
    """Returns the names of the parameters of a function, where they are known."""
    text = getattr(f, '__text_signature__', None)
    try:
        if text is not None and not inspect.isclass(f):
            f = eval(f'lambda {text.strip("()").replace("$", "")}: 0')
        parameters = inspect.signature(f).parameters.values()
    except (SyntaxError, ValueError, TypeError):
        return []
    return [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != 'self'
    ]


def _callables(prefix: str, owner: Any) -> list[tuple[str, Any]]:
    """Returns the names and the objects of what can be called of a module."""
    members = [(name, getattr(owner, name, None)) for name in sorted(dir(owner))]
    return [
        (f'{prefix}.{name}', f)
        for name, f in members
        if (inspect.isroutine(f) or inspect.isclass(f)) and not EXCLUDED.fullmatch(name)
    ]


class Writer:
    """Writer of random lines.

    Args:
        rng: Decides everything.

    """

    def __init__(self, rng: random.Random) -> None:
        self.random = rng

    def choose(self, *weighted: tuple[int, Callable[[], Any]]) -> Any:
        """Returns what one of several functions, with weights, makes."""
        return self.random.choices([w[1] for w in weighted], [w[0] for w in weighted])[0]()

    def one(self, items: Any) -> Any:
        return self.random.choice(items)

    def array(self) -> str:
        dtype = self.one([*DTYPES, 'float32', 'float32', 'int64'])
        changes = ['', '', '', 'reversed', 'transposed', 'broadcast', 'graph', 'graph', 'device']
        change = self.one(changes)
        return f'array({self.one(SHAPES)}, {dtype!r}, {self.random.randrange(40)}, {change!r})'

    def integer(self) -> str:
        return repr(self.one(INTEGERS if self.random.random() < 0.8 else HUGE))

    def items(self, make: Callable[[], str]) -> str:
        return '({})'.format(
            ''.join(make() + ', ' for _ in range(self.one([0, 1, 1, 2, 2, 3, 18])))
        )

    def object(self) -> str:
        return self.one(OBJECTS + CHAINERX_OBJECTS * xp.is_available())

    def value(self) -> str:
        return self.choose(
            (6, self.array),
            (4, self.integer),
            (2, lambda: self.one(NUMBERS)),
            (3, self.object),
            (3, lambda: self.items(self.integer)),
            (2, lambda: self.items(self.array)),
            (1, lambda: self.items(self.value)),
        )

    def values(self, counts: list[int]) -> str:
        return ', '.join(self.value() for _ in range(self.one(counts)))

    def argument(self, name: str) -> str:
        if self.random.random() < 0.2:
            return self.value()
        if name in SHAPE_NAMES:
            return self.choose(
                (1, self.integer),
                (1, lambda: self.items(self.integer)),
                (1, lambda: self.one(SHAPES)),
            )
        if name in COUNT_NAMES:
            return self.integer()
        if name in LIST_NAMES:
            return self.items(self.array)
        if name == 'dtype':
            return repr(self.one(DTYPES))
        return self.array()

    def call(self, name: str, parameters: list[str]) -> str:
        shorter = self.random.random() < 0.4
        n = self.random.randint(0, len(parameters)) if shorter else len(parameters)
        arguments = [self.argument(p) for p in parameters[:n]]
        arguments += [
            f'{p}={self.argument(p)}' for p in parameters[n:] if self.random.random() < 0.3
        ]
        if self.random.random() < 0.02:
            arguments.append('**{"\\udcff": 1}')
        if self.random.random() < 0.05:
            arguments = [self.values([0, 1, 2, 3, 13])]
        return f'{name}({", ".join(arguments)})'

    def key(self) -> str:
        return self.choose(
            (2, self.integer),
            (2, lambda: 'slice({}, {}, {})'.format(*(self.integer() for _ in range(3)))),
            (1, lambda: f'array({self.one(SHAPES[:6])}, {self.one(["bool", "int64"])!r}, 1, "")'),
            (1, self.object),
            (1, lambda: self.items(self.integer)),
            (2, lambda: self.items(self.key)),
        )

    def use(self, make: str, names: list[str]) -> tuple[str, str]:
        """What makes an object ``x``, and a line that uses it in some way."""
        name = self.one(names)
        uses = (
            (4, lambda: f'y = x.{name}({self.values([0, 1, 2, 3])})'),
            (3, lambda: f'y = {self.one(PROTOCOLS)}'),
            (1, lambda: f'y = x.{name}'),
            (1, lambda: f'x.{name} = {self.value()}'),
            (1, lambda: f'del x.{name}'),
            (1, lambda: f'y = x {self.one(OPERATORS)} {self.value()}'),
            (1, lambda: f'y = x[{self.key()}]'),
            (1, lambda: f'x.__setstate__({self.value()})'),
            (1, lambda: f'x.__class__ = type({self.value()})'),
        )
        return f'x = {make}', self.choose(*uses)


class ChainerxWriter(Writer):
    """Writer of lines that use ChainerX."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        core = xp._core
        modules = ('xp', xp), ('xp.linalg', xp.linalg), ('xp.random', xp.random), ('xp._core', core)
        members = [pair for name, module in modules for pair in _callables(name, module)]
        types = [f for f in vars(core).values() if isinstance(f, type)]
        types = [cls for cls in types if not issubclass(cls, BaseException)]
        self.functions = [(name, _signature(f)) for name, f in members if not isinstance(f, type)]
        self.types = sorted(f'xp._core.{cls.__name__}' for cls in types)
        self.attributes = sorted({name for cls in types for name in dir(cls) if name[:2] != '__'})
        self.methods = [
            (name, _signature(f)) for name, f in sorted(vars(xp.ndarray).items()) if callable(f)
        ]

    def huge(self) -> str:
        shapes = '(2 ** 62,)', '(2 ** 31, 2 ** 31)', '(2 ** 31, 0)', '(2 ** 60, 1, 1, 1)'
        shape = self.one(shapes)
        return f'xp.broadcast_to(xp.ones((1,) * len({shape}), "int8"), {shape})'

    def instance(self) -> str:
        cls = self.one(self.types)
        return self.choose(
            (4, lambda: self.one(CHAINERX_OBJECTS)),
            (1, lambda: f'new({cls})'),
            (1, lambda: f'derived({cls})'),
            (2, lambda: f'{cls}({self.values([0, 1, 2])})'),
        )

    def capsule(self) -> str:
        """A capsule with a wrong word; its address stays right."""
        odd = [0, 1, 2, 3, 17, -1, 2**31 - 1, -(2**31), 0x14002]
        words = {word: odd for word in (0, 1, 6, 7, 10, 11, 13)}
        words |= {12: [0, *odd[4:]], 18: [1, 2, 3, -1], 19: [-1, 2**15, 2**31 - 1, -(2**31)]}
        word = self.one(list(words))
        return f'Capsule({word}, {self.one(words[word])})'

    def line(self) -> tuple[str, str]:
        """Returns what makes a target ``x``, if anything, and what to do."""
        x = self.array()
        names = 'xp.tile', 'xp.reshape', 'xp.repeat', 'xp.concatenate', 'xp.stack', 'xp.take'
        method, parameters = self.one(self.methods)
        return self.choose(
            (20, lambda: ('', f'y = {self.call(*self.one(self.functions))}')),
            (6, lambda: (f'x = {x}', f'y = {self.call("x." + method, parameters)}')),
            (6, lambda: self.use(self.instance(), self.attributes)),
            (4, lambda: ('', f'y = {x} {self.one(OPERATORS)} {self.value()}')),
            (1, lambda: ('', f'y = {self.value()} {self.one(OPERATORS)} {x}')),
            (3, lambda: (f'x = {x}', f'x {self.one(OPERATORS[:13])}= {self.value()}')),
            (2, lambda: (f'x = {x}', self.one(OVERLAPS))),
            (3, lambda: ('', f'y = {x}[{self.key()}]')),
            (4, lambda: (f'x = {x}', f'x[{self.key()}] = {self.value()}')),
            (1, lambda: ('', f'y = xp.from_dlpack({self.capsule()})')),
            (1, lambda: ('', f'enter_scope(); y = {self.call(*self.one(self.functions))}')),
            (1, lambda: ('', f'y = xp.grad([{x}], [{self.array()}])')),
            (
                1,
                lambda: (
                    '',
                    f'y = {self.one(names)}({self.huge()}, {self.items(self.integer)})',
                ),
            ),
        )


class ChainerWriter(Writer):
    """Writer of lines that use Chainer."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        modules = [(name, importlib.import_module(name)) for name in CHAINER_MODULES]
        members = [pair for name, module in modules for pair in _callables(name, module)]
        members = [
            (n, f) for n, f in members if (getattr(f, '__module__', '') or '')[:7] == 'chainer'
        ]
        self.functions = [(name, _signature(f)) for name, f in members]
        self.classes = [(name, f) for name, f in members if isinstance(f, type)]

    def array(self) -> str:
        x = super().array()
        if self.random.random() < 0.7:
            x = re.sub("'[a-z]*'\\)$", "'numpy')", x)
        return f'chainer.Variable({x})' if self.random.random() < 0.3 else x

    def line(self) -> tuple[str, str]:
        """Returns what makes an object ``x``, if anything, and what to do."""
        name, cls = self.one(self.classes)
        make = self.choose(
            (4, lambda: self.call(name, _signature(cls))),
            (1, lambda: f'new({name})'),
            (1, lambda: f'derived({name})'),
        )
        names = [n for n in dir(cls) if n[:1] != '_' and not EXCLUDED.fullmatch(n)]
        return self.choose(
            (2, lambda: ('', f'y = {self.call(*self.one(self.functions))}')),
            (1, lambda: self.use(make, names or ['x'])),
        )
