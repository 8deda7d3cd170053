"""What a program changes between calls ends the plan: each way in which Python can change a thing.

A case is a function that returns a step and what changes what the step reads. Its name ends in
``_ends`` if nothing can watch the thing, so that there is no plan.
"""

import abc
import builtins
import enum
import functools
import inspect
import operator
import types

import numpy as np
import pytest
from helpers.compiled import DEVICE, array, bits

import chainer
import chainer as ch
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import initializers, optimizers

pytestmark = pytest.mark.chainerx

OPTIMIZER = None  # of the case


class Cases:
    # -- functions

    def attribute_of_a_function():
        def helper():
            pass

        helper.s = 2
        return lambda x: x * helper.s, lambda: setattr(helper, 's', 3)

    def list_in_an_attribute_of_a_function():
        def helper():
            pass

        helper.s = [2]
        return lambda x: x * helper.s[0], lambda: operator.setitem(helper.s, 0, 3)

    def new_attribute_of_a_function():
        def helper():
            pass

        return lambda x: x * getattr(helper, 's', 2), lambda: setattr(helper, 's', 3)

    def replaced_attributes_of_a_function():
        def helper():
            pass

        helper.s = 2
        return lambda x: x * helper.s, lambda: setattr(helper, '__dict__', {'s': 3})

    def name_of_a_function():
        def helper():
            pass

        return lambda x: x * len(helper.__name__), lambda: setattr(helper, '__name__', 'other')

    def qualified_name_of_a_function():
        def helper():
            pass

        return lambda x: x * len(helper.__qualname__), lambda: setattr(helper, '__qualname__', 'a')

    def module_of_a_function():
        def helper():
            pass

        return lambda x: x * len(helper.__module__), lambda: setattr(helper, '__module__', 'a')

    def documentation_of_a_function():
        def helper():
            """Text."""

        return lambda x: x * len(helper.__doc__), lambda: setattr(helper, '__doc__', 'a')

    def annotations_of_a_function():
        def helper(a: 2):
            pass

        def change():
            helper.__annotations__['a'] = 3

        return lambda x: x * helper.__annotations__['a'], change

    def replaced_annotations_of_a_function():
        def helper(a: 2):
            pass

        def change():
            helper.__annotations__ = {'a': 3}

        return lambda x: x * helper.__annotations__['a'], change

    def defaults_of_a_function():
        def helper(x, a=2):
            return x * a

        return lambda x: helper(x), lambda: setattr(helper, '__defaults__', (3,))

    def list_in_defaults_of_a_function():
        def helper(x, a=[2]):  # noqa: B006 - it is what this is about
            return x * a[0]

        return lambda x: helper(x), lambda: operator.setitem(helper.__defaults__[0], 0, 3)

    def keyword_defaults_of_a_function():
        def helper(x, *, a=2):
            return x * a

        return lambda x: helper(x), lambda: setattr(helper, '__kwdefaults__', {'a': 3})

    def code_of_a_function():
        def helper(x):
            return x * 2

        def other(x):
            return x * 3

        return lambda x: helper(x), lambda: setattr(helper, '__code__', other.__code__)

    def globals_of_a_function_ends():
        def helper():
            pass

        names = helper.__globals__
        names['NUMBER'] = 2
        return lambda x: x * helper.__globals__['NUMBER'], lambda: names.update(NUMBER=3)

    def attribute_of_a_function_of_this_package():
        F.relu.s = 2
        return lambda x: x * F.relu.s, lambda: setattr(F.relu, 's', 3)

    def attribute_of_a_static_method():
        class Own:
            @staticmethod
            def f():
                pass

        wrapper = vars(Own)['f']
        wrapper.s = 2
        return lambda x: x * wrapper.s, lambda: setattr(wrapper, 's', 3)

    def keywords_of_a_partial():
        p = functools.partial(lambda x, a: x * a, a=2)
        return lambda x: p(x), lambda: p.keywords.update(a=3)

    def function_of_a_partial():
        p = functools.partial(lambda x, a: x * a, a=2)
        state = (lambda x, a: x + a), (), {'a': 2}, {}
        return lambda x: p(x), lambda: p.__setstate__(state)

    def list_in_the_arguments_of_a_partial():
        p = functools.partial(lambda a, x: x * a[0], [2])
        return lambda x: p(x), lambda: operator.setitem(p.args[0], 0, 3)

    def attribute_of_a_partial():
        p = functools.partial(int)
        p.s = 2
        return lambda x: x * p.s, lambda: setattr(p, 's', 3)

    # -- names

    def name_of_builtins():
        builtins._number = 2
        return lambda x: x * _number, lambda: setattr(builtins, '_number', 3)  # noqa: F821

    def function_of_builtins():
        return lambda x: x * abs(-2), lambda: setattr(builtins, 'abs', lambda x: 3)

    def attribute_of_an_alias():
        ch._number = 2
        return lambda x: x * ch._number, lambda: setattr(chainer, '_number', 3)

    def attribute_of_a_module_in_a_variable():
        def step(x):
            module = chainer
            return x * module._number

        ch._number = 2
        return step, lambda: setattr(chainer, '_number', 3)

    def attribute_of_a_module_in_a_closure():
        module = F
        module._number = 2
        return lambda x: x * module._number, lambda: setattr(F, '_number', 3)

    def list_in_a_module_in_a_closure():
        module = F
        module._number = [2]
        return lambda x: x * module._number[0], lambda: operator.setitem(F._number, 0, 3)

    def function_of_a_module_by_a_text():
        module, name = F, 'relu'
        return lambda x: getattr(module, name)(x), lambda: setattr(F, 'relu', lambda x: x * 3)

    def missing_name_of_a_module():
        def step(x):
            return F._scaled(x) if hasattr(F, '_scaled') else x * 2

        return step, lambda: setattr(F, '_scaled', lambda x: x * 3)

    def other_module_ends():
        module = types.ModuleType('own')
        module.number = 2
        return lambda x: x * module.number, lambda: setattr(module, 'number', 3)

    # -- values

    def attribute_of_a_float():
        class Rate(float):
            pass

        rate = Rate(2)
        rate.s = 2
        return lambda x: x * rate.s, lambda: setattr(rate, 's', 3)

    def attribute_of_an_int():
        class Size(int):
            pass

        size = Size(2)
        size.s = [2]
        return lambda x: x * size.s[0], lambda: operator.setitem(size.s, 0, 3)

    def attribute_of_a_text():
        class Text(str):
            pass

        text = Text('a')
        text.s = 2
        return lambda x: x * text.s, lambda: setattr(text, 's', 3)

    def attribute_of_a_tuple():
        class Pair(tuple):
            pass

        pair = Pair((2, 1))
        pair.s = 2
        return lambda x: x * (pair.s * pair[0]), lambda: setattr(pair, 's', 3)

    def attribute_of_a_member():
        class Mode(enum.IntEnum):
            A = 1

        Mode.A.s = 2
        return lambda x: x * (Mode.A.s * Mode.A), lambda: setattr(Mode.A, 's', 3)

    def attribute_of_a_member_of_an_enum():
        class Mode(enum.Enum):
            A = 1

        Mode.A.s = 2
        return lambda x: x * Mode.A.s, lambda: setattr(Mode.A, 's', 3)

    def method_of_a_float():
        class Rate(float):
            def of(self, x):
                return x * self

        rate = Rate(2)
        return lambda x: rate.of(x), lambda: setattr(Rate, 'of', lambda self, x: x * 3)

    def items_of_a_record_ends():
        record = np.zeros(1, [('a', 'f4')])[0]
        record['a'] = 2
        return lambda x: x * float(record['a']), lambda: operator.setitem(record, 'a', 3)

    def names_of_a_dtype_ends():
        dtype = np.dtype([('a', 'f4')])
        return lambda x: x * len(dtype.names[0]), lambda: setattr(dtype, 'names', ('abc',))

    # -- classes

    def attribute_of_a_metaclass():
        class Meta(type):
            s = 2

        class Own(metaclass=Meta):
            pass

        return lambda x: x * Own.s, lambda: setattr(Meta, 's', 3)

    def list_of_a_metaclass():
        class Meta(type):
            s = [2]

        class Own(metaclass=Meta):
            pass

        return lambda x: x * Own.s[0], lambda: operator.setitem(Meta.s, 0, 3)

    def bases_of_a_class():
        class A:
            s = 2

        class B:
            s = 3

        class Own(A):
            pass

        own = Own()
        return lambda x: x * own.s, lambda: setattr(Own, '__bases__', (B,))

    def name_of_a_class():
        class Own:
            pass

        own = Own()
        return lambda x: x * len(type(own).__name__), lambda: setattr(Own, '__name__', 'A')

    def annotations_of_a_class():
        class Own:
            a: 2

        def change():
            Own.__annotations__['a'] = 3

        return lambda x: x * Own.__annotations__['a'], change

    def registered_subclass():
        class Abstract(abc.ABC):  # noqa: B024
            pass

        class Own:
            pass

        own = Own()
        return (
            lambda x: x * (3 if isinstance(own, Abstract) else 2),
            lambda: Abstract.register(Own),
        )

    def subclasses_ends():
        class Own:
            pass

        kept = []
        return (
            lambda x: x * (2 + len(Own.__subclasses__())),
            lambda: kept.append(type('Sub', (Own,), {})),
        )

    def patched_operator():
        saved = chainer.Variable.__mul__

        def step(x):
            return (chainer.Variable(x, requires_grad=False) * 2).array

        def change():
            chainer.Variable.__mul__ = lambda self, other: saved(self, other + 1)

        return step, change

    def attribute_of_the_class_of_parameters():
        chainer.Parameter._number = 2
        p = chainer.Parameter(np.ones(1, 'f'))
        p.to_device(DEVICE)
        return lambda x: x * p._number, lambda: setattr(chainer.Parameter, '_number', 3)

    def list_in_the_class_of_links():
        L.Linear._number = [2]
        link = L.Linear(1, 1)
        link.to_device(DEVICE)
        return lambda x: x * link._number[0], lambda: operator.setitem(L.Linear._number, 0, 3)

    # -- objects

    def list_of_an_optimizer():
        OPTIMIZER.s = [2]
        return lambda x: x * OPTIMIZER.s[0], lambda: operator.setitem(OPTIMIZER.s, 0, 3)

    def dict_in_the_hyperparameters():
        OPTIMIZER.hyperparam.s = {'a': 2}
        values = OPTIMIZER.hyperparam.s
        return lambda x: x * OPTIMIZER.hyperparam.s['a'], lambda: values.update(a=3)

    def new_attribute_of_an_optimizer():
        return lambda x: x * getattr(OPTIMIZER, 's', 2), lambda: setattr(OPTIMIZER, 's', 3)

    def attribute_of_the_class_of_an_optimizer():
        return (
            lambda x: x * (2 + OPTIMIZER.use_auto_new_epoch),
            lambda: setattr(OPTIMIZER, 'use_auto_new_epoch', True),
        )

    def rate_of_an_optimizer():
        return lambda x: x * OPTIMIZER.lr, lambda: setattr(OPTIMIZER, 'lr', 3)

    def computed_rate_of_an_optimizer_ends():
        optimizer = optimizers.Adam().setup(L.Linear(1, 1))
        optimizer.t = 1
        return lambda x: x * optimizer.alpha_t, lambda: setattr(optimizer, 't', 3)

    def list_of_an_update_rule():
        rule = OPTIMIZER.target.W.update_rule
        rule.s = [2]
        return (
            lambda x: x * OPTIMIZER.target.W.update_rule.s[0],
            lambda: operator.setitem(rule.s, 0, 3),
        )

    def rate_of_an_update_rule():
        rule = OPTIMIZER.target.W.update_rule
        return lambda x: x * rule.hyperparam.lr, lambda: setattr(rule.hyperparam, 'lr', 3)

    def list_of_a_hook_ends():
        hook = chainer.optimizer_hooks.WeightDecay(0.1)
        hook.s = [2]
        return lambda x: x * hook.s[0], lambda: operator.setitem(hook.s, 0, 3)

    def list_of_a_parameter():
        W = OPTIMIZER.target.W
        W.s = [2]
        return lambda x: x * OPTIMIZER.target.W.s[0], lambda: operator.setitem(W.s, 0, 3)

    def name_of_a_parameter():
        target = OPTIMIZER.target
        return lambda x: x * len(target.W.name), lambda: setattr(target.W, 'name', 'other')

    def name_of_a_link():
        link = OPTIMIZER.target
        link.name = 'a'
        return lambda x: x * len(link.name), lambda: setattr(link, 'name', 'other')

    def persistent_values_of_a_link():
        link = OPTIMIZER.target
        link.s = 2
        return (
            lambda x: x * (2 + len(link._persistent)),
            lambda: link.register_persistent('s'),
        )

    def parameters_of_a_link():
        link = OPTIMIZER.target

        def change():
            b = link.b
            del link.b
            link.b = b  # no longer as a parameter

        return lambda x: x * len(list(link.params())), change

    def value_of_an_initializer():
        fill = initializers.Constant(2)
        return lambda x: x * fill.fill_value, lambda: setattr(fill, 'fill_value', 3)

    def value_of_an_initializer_that_fills():
        fill = initializers.Constant(2)

        def step(x):
            values = np.zeros(3, 'f')
            fill(values)
            return x * chainerx.array(values, device=DEVICE)

        return step, lambda: setattr(fill, 'fill_value', 3)

    def list_in_the_configuration():
        chainer.config.own = [2]
        values = chainer.config.own
        return lambda x: x * chainer.config.own[0], lambda: operator.setitem(values, 0, 3)

    def dict_in_the_global_configuration():
        chainer.global_config.own = {'a': 2}
        values = chainer.global_config.own
        return lambda x: x * chainer.config.own['a'], lambda: values.update(a=3)

    def object_in_the_configuration():
        chainer.config.own = own = Own()
        return lambda x: x * chainer.config.own.s, lambda: setattr(own, 's', 3)

    def unknown_object_in_the_configuration_ends():
        chainer.config.own = own = Unknown()
        return lambda x: x * len(chainer.config.own.text), lambda: setattr(own, 'text', 'abc')

    def set_of_an_object():
        own = Own()
        own.s = {2}
        return lambda x: x * len(own.s), lambda: own.s.add(3)

    def flags_of_an_array_of_numpy():
        own = Own()
        own.s = np.ones(3, 'f')
        return (
            lambda x: x * (2 if own.s.flags.writeable else 3),
            lambda: own.s.setflags(write=False),
        )

    def base_of_an_array_of_numpy_ends():
        base = np.full(3, 2.0)
        part = base[:1]
        return lambda x: x * float(part.base[1]), lambda: operator.setitem(base, 1, 3)

    # -- reading by other means

    def attribute_by_an_alias_of_getattr_ends():
        own, read, name = Own(), getattr, 'number_of_it'[:6]
        own.number = Unknown()
        return lambda x: x * len(read(own, name).text), lambda: setattr(own.number, 'text', 'abc')

    def attribute_by_a_format_ends():
        own = Own()
        own.s = Unknown()
        text = '{0.s.text}'
        return lambda x: x * len(text.format(own)), lambda: setattr(own.s, 'text', 'abc')

    def attribute_by_an_alias_of_attrgetter_ends():
        own, read = Own(), operator.attrgetter
        own.number = Unknown()
        name = 'number_of_it'[:6]
        return lambda x: x * len(read(name)(own).text), lambda: setattr(own.number, 'text', 'abc')

    def special_method_that_no_code_names_ends():
        class Sized:
            __len__ = Unknown()

        own = Sized()
        return lambda x: x * len(own), lambda: setattr(Sized.__len__, 'text', 'abc')

    def special_method_that_a_class_gets():
        class Sized:
            def __len__(self):
                return 2

        own = Sized()
        return lambda x: x * len(own), lambda: setattr(Sized, '__len__', lambda self: 3)

    def attribute_of_the_class_of_the_configuration():
        type(chainer.config)._own = 2
        return lambda x: x * chainer.config._own, lambda: setattr(type(chainer.config), '_own', 3)

    def attribute_by_formatting():
        own = Own()
        return lambda x: x * len(f'{own.s}'), lambda: setattr(own, 's', 'abc')

    # -- patterns

    def attribute_by_a_pattern_ends():
        own = Own()
        own.s = Unknown()

        def step(x):
            match own:
                case Own(s=Unknown(text=text)):
                    return x * len(text)
            return x

        return step, lambda: setattr(own.s, 'text', 'abc')

    def attribute_by_a_place_in_a_pattern_ends():
        own = Own()
        own.s = Unknown()

        def step(x):
            match own:
                case Own(Unknown(text)):
                    return x * len(text)
            return x

        return step, lambda: setattr(own.s, 'text', 'abc')


class Own:
    __match_args__ = ('s',)

    def __init__(self):
        self.s = 2


class Unknown:
    __match_args__ = ('text',)

    def __init__(self):
        self.text = 'a'

    def __getattribute__(self, name):  # which may compute anything
        return object.__getattribute__(self, name)

    def __call__(self):
        return len(self.text)


CASES = inspect.getmembers(Cases, inspect.isfunction)


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    global OPTIMIZER
    places = (F, chainer, builtins, chainer.Parameter, chainer.Variable, L.Linear, F.relu)
    places += (type(chainer.config),)
    saved = [dict(vars(place)) for place in places]
    configurations = chainer.config, chainer.global_config
    OPTIMIZER = optimizers.SGD(lr=2).setup(L.Linear(1, 1).to_device(DEVICE))
    yield
    for place, values in zip(places, saved):
        for name in list(vars(place)):
            if name not in values:
                delattr(place, name)
            elif vars(place)[name] is not values[name]:
                setattr(place, name, values[name])
    for config in configurations:
        if 'own' in vars(config):
            delattr(config, 'own')


@pytest.mark.parametrize('name, case', CASES, ids=[name for name, _ in CASES])
@pytest.mark.filterwarnings('ignore')
def test_change(name, case):
    step, change = case()
    compiled = chainer.compile(step)
    x = array([1, 2, 3], 'f')
    for _ in range(5):
        expected = bits(step(x))
        assert bits(compiled(x)) == expected
    replays = compiled.replays
    if name.endswith('_ends'):
        assert replays == 0
        assert f'{__name__.split(".")[-1]}.py:' in compiled.report()
    else:
        assert replays == 3, compiled.report()
    change()
    changed = bits(compiled(x))
    assert changed == bits(step(x))
    assert changed != expected
    assert compiled.replays == replays


def test_attributes_of_arguments():
    def step(x):
        return x.array * getattr(x, 'tag', 2)

    compiled = chainer.compile(step)
    for i in range(9):
        x = chainer.Variable(array([1, 2], 'f'), requires_grad=False)
        if i % 3 == 2:
            x.tag = i
        assert bits(compiled(x)) == bits(step(x))
    assert compiled.replays == 4
    assert 'a variable with attributes of the program (3 times)' in compiled.report()


def test_flags_of_arguments():
    def step(x):
        return x.as_grad_stopped() * (2 if x.is_grad_required() else 3)

    compiled = chainer.compile(step)
    with chainer.no_backprop_mode():
        for i in range(12):
            x = array([1, 2], 'f')
            if i % 3 == 2:
                x.require_grad()
            assert bits(compiled(x)) == bits(step(x))
    assert compiled.replays >= 6


@pytest.mark.parametrize(
    'owner, name',
    [
        ('AdamRule', 'update_core'), ('AdamRule', '_scalars'), ('WeightDecay', '__call__'),
        ('Parameter', 'update'), ('GradientMethod', 'update'), ('GradientMethod', 'call_hooks'),
    ],
)  # fmt: skip
def test_patched_updates(owner, name, monkeypatch):
    from chainer.optimizers import adam

    classes = adam.AdamRule, chainer.optimizer_hooks.WeightDecay, chainer.Parameter
    (cls,) = (c for c in (*classes, chainer.GradientMethod) if c.__name__ == owner)
    link = L.Linear(2, 2).to_device(DEVICE)
    optimizer = optimizers.Adam().setup(link)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))

    def step(x):
        link.cleargrads()
        F.sum(link(x)).backward()
        optimizer.update()

    compiled = chainer.compile(step)
    x = array([[1, 2]], 'f')
    for _ in range(6):
        compiled(x)
    assert compiled.replays
    calls = []
    original = getattr(cls, name)

    def patched(*args, **kwargs):
        calls.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(cls, name, patched)
    step(x)
    calls_of_a_step = len(calls)  # none where an eager update groups parameters
    for i in range(3):
        compiled(x)
        assert len(calls) == calls_of_a_step * (i + 2)


#: What a step may ask of a state of a link without a kernel.
QUESTIONS = [
    'len(h)', 'h.shape[-1]', 'h.size', 'h.ndim', 'h.dtype.itemsize', 'len(h.dtype.name)',
    'h.strides[0]', 'h.is_contiguous', 'h.nbytes', 'h.array.strides[-1]', 'h.requires_grad',
    'len(h.name or "")', 'h.device.index', 'getattr(h, "tag", 5)',
    'getattr(h, "array", h).is_grad_required()', 'getattr(h, "array", h).is_backprop_required()',
    'getattr(h, "array", h).is_grad_required() and getattr(h, "array", h).grad is None',
]  # fmt: skip


@pytest.mark.parametrize('question', QUESTIONS)
@pytest.mark.parametrize(
    'kept',
    [
        'x', 'F.relu(x)', 'chainer.Variable(x, requires_grad=False)',
        'chainer.Variable(x, name="abcd")',
    ],
)  # fmt: skip
def test_forms_of_states(question, kept):
    """Whether kernels use a state or not, its form tells which plan runs."""
    source = f"""
        def step(x):
            h = link.h
            link.h = {kept}
            return x * (2 + ({question}))
    """
    state = chainer.Variable(array(np.ones((3, 2)), 'f'), requires_grad=False)
    labelled = chainer.Variable(state.array, requires_grad=False, name='abc')
    named = chainer.Variable(state.array, requires_grad=False, name='abc')
    with_grad = chainer.Variable(state.array.copy(), grad=state.array.copy())
    with chainer.no_backprop_mode():
        hidden = chainer.Variable(state.array.copy())  # that needs a gradient, and hides it
    labelled.tag = 6
    states = [
        labelled, hidden, named, with_grad, with_grad.array, chainer.Variable(state.array), *[array(np.ones(shape), dtype)
        for shape, dtype in (((2, 2), 'f'), ((3, 2), 'd'), ((3, 2), 'i'), ((1, 3, 2), 'f'))],
        array(np.ones((3, 4)), 'f')[:, ::2], state.array.copy().require_grad(),
        chainerx.ones((3, 2), 'float32', device='native:1'),
    ]  # fmt: skip
    links, steps = [chainer.Link(), chainer.Link()], []
    for link in links:
        names = {'link': link, 'F': F, 'chainer': chainer, '__name__': 'program'}
        exec(inspect.cleandoc(source), names)
        link.h = state.array if 'array' not in question and kept == 'x' else state
        steps.append(names['step'])
    compiled = chainer.compile(steps[1])

    def run(count=1):
        for _ in range(count):
            results = []
            for step in steps[0], compiled:
                try:
                    results.append(bits(step(array(np.ones((3, 2)), 'f'))))
                except Exception as error:  # an array has no `array`
                    results.append(str(error))
            assert results[0] == results[1]
            a, b = (link.h for link in links)
            assert type(a) is type(b)
            if type(a) is chainer.Variable:
                assert (a.requires_grad, a.name) == (b.requires_grad, b.name)
        return type(results[0]) is not str

    has_result = run(6)
    if 'dtype.name' not in question:  # which NumPy computes in Python
        assert bool(compiled.replays) is has_result, compiled.report()
    for state in states * 2:
        for link in links:
            link.h = state
        compiled._wait = 0  # each state has a plan in the second round
        run(3)
