"""Plans end if a program changes classes or objects: each way in which Python can do it."""

import abc
import operator

import numpy as np
import pytest
from helpers.changes import cases_of, check_change
from helpers.compiled import DEVICE

import chainer
import chainer.links as L
import chainerx
from chainer import initializers, optimizers

pytestmark = pytest.mark.chainerx

OPTIMIZER = None  # of the case


@pytest.fixture(autouse=True)
def optimizer():
    global OPTIMIZER
    OPTIMIZER = optimizers.SGD(lr=2).setup(L.Linear(1, 1).to_device(DEVICE))


class Cases:
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


@cases_of(Cases)
@pytest.mark.filterwarnings('ignore')
def test_change(name, case):
    check_change(name, case)
