import unittest

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import testing
from chainer.testing import function_link

backends = [{}, {'use_cuda': True}, {'use_chainerx': True}]


def run(case, test, **attributes):
    """Runs one test of a case on the CPU; raises what it raises."""
    instance = case(test)
    for name, value in attributes.items():
        setattr(instance, name, value)
    instance.setUp()
    getattr(instance, test)(testing.BackendConfig({}))
    return instance


class Product(testing.FunctionTestCase):
    """Right in all respects; the tests below break one of them each."""

    __test__ = False

    def generate_inputs(self):
        return (
            numpy.random.uniform(0.5, 1, (2, 3)).astype('f'),
            numpy.random.uniform(0.5, 1, (2, 3)).astype('f'),
        )

    def forward(self, inputs, device):
        x, y = inputs
        return x * y, x + y * y

    def forward_expected(self, inputs):
        x, y = inputs
        return x * y, x + y * y


@testing.inject_backend_tests(None, backends)
class TestProduct(Product):
    __test__ = True

    def setUp(self):
        self.check_double_backward_options.update({'atol': 1e-3})


@testing.parameterize(*testing.product({'contiguous': [None, 'C'], 'shape': [(), (0,), (2, 3)]}))
@testing.inject_backend_tests(None, [{}])
class TestLayouts(testing.FunctionTestCase):
    skip_double_backward_test = True

    def generate_inputs(self):
        return (numpy.random.uniform(0.5, 1, self.shape).astype('f'), numpy.ones(self.shape, 'i'))

    def forward(self, inputs, device):
        x, index = inputs
        assert device == chainer.get_device('@numpy')
        if self.test_name == 'test_forward':  # the gradient check makes its own variables
            assert not index.requires_grad
            if self.shape == (2, 3):
                assert x.array.flags.c_contiguous == (self.contiguous == 'C')
        return (x + x,)

    def forward_expected(self, inputs):
        return (inputs[0] + inputs[0],)


def test_order_of_steps():
    seen = []

    class Case(Product):
        def before_test(self, test_name):
            seen.append((test_name, self.backend_config.xp))

        def generate_inputs(self):
            seen.append('inputs')
            return super().generate_inputs()

    run(Case, 'test_forward')
    assert seen == [('test_forward', numpy), 'inputs']


@pytest.mark.parametrize('test', ['test_forward', 'test_backward', 'test_double_backward'])
def test_skip(test):
    with pytest.raises(unittest.SkipTest, match=f'skip_{test[5:]}_test'):
        run(Product, test, **{f'skip_{test[5:]}_test': True})


@pytest.mark.parametrize('name', ['generate_inputs', 'forward', 'forward_expected'])
def test_missing_method(name):
    case = type('Case', (Product,), {name: getattr(testing.FunctionTestCase, name)})
    with pytest.raises(NotImplementedError, match=name):
        run(case, 'test_forward')


def f32(*shape):
    return numpy.ones(shape, 'f')


def negated_gradient(x):
    class Function(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, gys):
            return (gys[0] * -2,)

    return Function().apply((x,))[0]


def wrong_second_gradient(x):
    class Gradient(chainer.FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0, 1))
            return (2 * inputs[0] * inputs[1],)

        def backward(self, indexes, gys):
            x, gy = self.get_retained_inputs()
            return 3 * gy * gys[0], 2 * x * gys[0]

    class Function(chainer.FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0,))
            return (inputs[0] * inputs[0],)

        def backward(self, indexes, gys):
            return Gradient().apply((self.get_retained_inputs()[0], gys[0]))

    return Function().apply((x,))[0]


def modify(x):
    x.array[...] = 0
    return x * 1


@pytest.mark.parametrize(
    'test,overrides,message',
    [
        (
            'test_forward',
            {'generate_inputs': lambda self: [f32(2)]},
            r'generate_inputs\(\) must be',
        ),
        ('test_forward', {'generate_inputs': lambda self: (1,)}, r'generate_inputs\(\) must be'),
        ('test_forward', {'forward_expected': lambda self, i: f32(2, 3)}, r'forward_expected\(\)'),
        ('test_forward', {'forward': lambda self, i, d: i[0]}, r'forward\(\) must return a tuple'),
        (
            'test_forward',
            {'forward': lambda self, i, d: (1, 2)},
            r'forward\(\) must return variables',
        ),
        ('test_forward', {'forward': lambda self, i, d: (i[0],)}, 'returned 1 outputs, expected 2'),
        ('test_forward', {'forward_expected': lambda self, i: (f32(2, 3), f32(1, 3))}, 'shapes'),
        (
            'test_forward',
            {'forward_expected': lambda self, i: (f32(2, 3), numpy.ones((2, 3)))},
            'dtypes',
        ),
        (
            'test_forward',
            {'forward_expected': lambda self, i: (f32(2, 3), f32(2, 3) * 9)},
            'Outputs do not match the expected values',
        ),
        ('test_forward', {'forward': lambda self, i, d: (modify(i[0]), i[1] * 1)}, 'modified'),
        (
            'test_backward',
            {'forward': lambda self, i, d: (negated_gradient(i[0]), i[1] * 1)},
            'test_backward failed',
        ),
        ('test_backward', {'generate_grad_outputs': lambda self, t: (t[0],)}, 'returned 1 arrays'),
        ('test_backward', {'generate_grad_outputs': lambda self, t: (f32(2), t[1])}, 'shape'),
        (
            'test_double_backward',
            {'forward': lambda self, i, d: (wrong_second_gradient(i[0]) * i[1],)},
            'test_double_backward failed',
        ),
        (
            'test_double_backward',
            {'generate_grad_grad_inputs': lambda self, t: (t[0],)},
            'returned 1 arrays',
        ),
    ],
)
def test_failures(test, overrides, message):
    case = type('Case', (Product,), overrides)
    with pytest.raises(testing.FunctionTestError, match=message):
        run(case, test)


def test_error_class():
    assert issubclass(testing.FunctionTestError, AssertionError)
    assert issubclass(testing.LinkTestError, AssertionError)
    assert testing.FunctionTestError.__mro__[1] is function_link._TestError


def test_options():
    class Case(Product):
        check_forward_options = {'atol': 10}

        def forward_expected(self, inputs):
            return tuple(a + 1 for a in super().forward_expected(inputs))

    first = run(Case, 'test_forward')
    first.check_forward_options['atol'] = 0
    assert Case.check_forward_options == {'atol': 10}
    assert Case('test_forward').check_forward_options == {'atol': 10}
    assert Product('test_forward').check_backward_options == {}


def test_dodge_nondifferentiable():
    class Case(testing.FunctionTestCase):
        tries = 0

        def generate_inputs(self):
            self.tries += 1
            # The first two draws are at the kink.
            return (f32(2) * (0 if self.tries <= 2 else 1),)

        def forward(self, inputs, device):
            return (F.relu(inputs[0]),)

    assert run(Case, 'test_backward', dodge_nondifferentiable=True).tries == 3
    with pytest.raises(testing.FunctionTestError, match='No differentiable point'):
        run(
            type('Always', (Case,), {'generate_inputs': lambda self: (f32(2) * 0,)}),
            'test_backward',
            dodge_nondifferentiable=True,
        )


def test_missing_gradients():
    class Case(Product):
        def generate_grad_outputs(self, outputs_template):
            return super().generate_grad_outputs(outputs_template)[0], None

    run(Case, 'test_backward')


class LinearCase(testing.LinkTestCase):
    __test__ = False
    param_names = ('W', 'b')

    def generate_params(self):
        return (
            numpy.random.uniform(-1, 1, (2, 3)).astype('f'),
            numpy.random.uniform(-1, 1, 2).astype('f'),
        )

    def generate_inputs(self):
        return (numpy.random.uniform(-1, 1, (4, 3)).astype('f'),)

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(None, 2, initialW=W, initial_bias=b)

    def forward_expected(self, link, inputs):
        return (inputs[0].dot(link.W.array.T) + link.b.array,)


@testing.inject_backend_tests(None, backends)
class TestLinear(LinearCase):
    __test__ = True


@testing.inject_backend_tests(None, [{}])
class TestChild(LinearCase):
    __test__ = True
    param_names = ('child.W', 'child.b')

    def create_link(self, initializers):
        return chainer.Chain(child=super().create_link(initializers))

    def forward(self, link, inputs, device):
        return (link.child(*inputs),)

    def forward_expected(self, link, inputs):
        return super().forward_expected(link.child, inputs)


def wrong_bias(self, link, inputs, device):
    return (F.linear(inputs[0], link.W, negated_gradient(link.b) * 0.5),)


@pytest.mark.parametrize(
    'test,overrides,message',
    [
        ('test_forward', {'create_link': lambda self, i: None}, r'create_link\(\) must return'),
        (
            'test_forward',
            {'generate_params': lambda self: [1, 2]},
            r'generate_params\(\) must return',
        ),
        (
            'test_forward',
            {'forward_expected': lambda self, link, i: (f32(4, 2) * 9,)},
            'Outputs do not match',
        ),
        (
            'test_backward',
            {'forward': wrong_bias, 'create_link': lambda self, i: L.Linear(3, 2)},
            'test_backward failed',
        ),
        ('test_backward', {'param_names': ('W', 'name')}, 'name of the link is not a parameter'),
    ],
)
def test_link_failures(test, overrides, message):
    case = type('Case', (LinearCase,), overrides)
    with pytest.raises(testing.LinkTestError, match=message):
        run(case, test)


def test_link_without_params():
    class Case(LinearCase):
        param_names = ()
        generate_params = testing.LinkTestCase.generate_params

        def create_link(self, initializers):
            assert initializers == ()
            return chainer.Sequential(F.sin)

        def forward_expected(self, link, inputs):
            return (numpy.sin(*inputs),)

    run(Case, 'test_forward')
    run(Case, 'test_backward')


@pytest.mark.parametrize('names', [(), ('W',), ('b',), ('b', 'W')], ids='-'.join)
@pytest.mark.parametrize('test', ['test_forward', 'test_backward'])
def test_link_with_unlisted_params(test, names):
    run(LinearCase, test, param_names=names)


@pytest.mark.parametrize('test', ['test_forward', 'test_backward'])
def test_skip_link(test):
    with pytest.raises(unittest.SkipTest):
        run(LinearCase, test, **{f'skip_{test[5:]}_test': True})


class InitializersCase(testing.LinkInitializersTestCase):
    __test__ = False
    param_names = ('W', 'b')

    def get_initializers(self):
        W = [
            numpy.full((2, 3), 3.0),
            chainer.initializers.Constant(2),
            5,
            None,
            chainer.initializers.Normal(0.5),
        ]
        b = [
            chainer.initializers.One(),
            numpy.array([1.0, 2.0]),
            testing.InitializerArgument(None, 0),
        ]
        return W, b

    def generate_inputs(self):
        return (f32(4, 3),)

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(None, 2, initialW=W, initial_bias=b)


@testing.inject_backend_tests(None, backends)
class TestInitializers(InitializersCase):
    __test__ = True


def ignores_bias(self, initializers):
    return L.Linear(3, 2, initialW=initializers[0])


def scales_weight(self, initializers):
    W, b = initializers
    link = L.Linear(3, 2, initialW=W, initial_bias=b)
    link.W.array[...] *= 100
    return link


@pytest.mark.parametrize(
    'overrides,message',
    [
        ({'create_link': ignores_bias}, 'Parameter b was not initialized as expected'),
        ({'create_link': scales_weight}, 'Parameter W was not initialized as expected'),
        (
            {
                'create_link': scales_weight,
                'get_initializers': lambda self: ([chainer.initializers.Normal()], [0]),
            },
            'mean is',
        ),
        ({'get_initializers': lambda self: ([1],)}, 'for each of'),
        ({'get_initializers': lambda self: ([1], [])}, 'for each of'),
    ],
)
def test_initializer_failures(overrides, message):
    case = type('Case', (InitializersCase,), overrides)
    with pytest.raises(testing.LinkTestError, match=message):
        run(case, 'test_initializers')


@pytest.mark.parametrize('value,error', [(None, ValueError), (object(), TypeError)])
def test_bad_initializer_argument(value, error):
    with pytest.raises(error):
        testing.InitializerArgument(1, value)
