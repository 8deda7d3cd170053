"""Plans end if a program changes functions, names or values: each way in which Python can do it."""

import builtins
import enum
import functools
import operator
import types

import numpy as np
import pytest
from helpers.changes import cases_of, check_change
from helpers.compiled import array, bits

import chainer
import chainer as ch
import chainer.functions as F

pytestmark = pytest.mark.chainerx


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


@cases_of(Cases)
@pytest.mark.filterwarnings('ignore')
def test_change(name, case):
    check_change(name, case)


@pytest.mark.skipif(
    not hasattr(np.random.RandomState.rand, '__dict__'), reason='has attributes from NumPy 2.4 on'
)
def test_attribute_of_a_method_of_a_generator(monkeypatch):
    method = np.random.RandomState.rand
    monkeypatch.setattr(method, 's', 2, raising=False)
    check_change('attribute', lambda: (lambda x: x * method.s, lambda: setattr(method, 's', 3)))


def _check_factors(compiled, numbers):
    """Checks a function that multiplies by a number, before and after a change of it."""
    x = array([1, 2], 'f')
    for number in 2, 3:
        numbers[0] = number
        before = compiled.replays
        for _ in range(4):
            assert bits(compiled(x)) == bits(x * number)
        assert compiled.replays > before, compiled.report()


def test_what_a_property_reads():
    class Own:
        @property
        def factor(self):
            return numbers[0]

    own, numbers = Own(), [2]
    compiled = chainer.compile(lambda x: x * own.factor)
    _check_factors(compiled, numbers)


def test_what_a_function_in_this_package_reads(monkeypatch):
    monkeypatch.setattr(chainer, 'own', lambda x: x * numbers[0], raising=False)
    numbers = [2]
    compiled = chainer.compile(lambda x, package=chainer: package.own(x))
    _check_factors(compiled, numbers)
