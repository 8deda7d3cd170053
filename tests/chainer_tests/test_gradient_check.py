import math

import numpy
import pytest

import chainer
from chainer import functions as F, gradient_check, links as L
from tests.helpers.devices import CHX


class TestNumericalGrad:
    @pytest.mark.parametrize(
        'dtype, eps, tolerance', [('f', 1e-2, 1e-3), ('d', 1e-4, 1e-6), ('e', 0.25, 0.05)]
    )
    @pytest.mark.parametrize('shape', [(), (3,), (2, 3), (0, 2)])
    def test_value(self, dtype, eps, tolerance, shape):
        x = numpy.random.uniform(0.5, 1, shape).astype(dtype)
        y = numpy.random.uniform(0.5, 1, shape).astype(dtype)
        original = x.copy()
        gz, gw = numpy.random.uniform(-1, 1, (2, *shape)).astype(dtype)
        gx, gy = gradient_check.numerical_grad(lambda: (x * x, x * y), (x, y), (gz, gw), eps)
        assert gx.dtype == gy.dtype == dtype and gx.shape == gy.shape == shape
        numpy.testing.assert_allclose(gx, 2 * x * gz + y * gw, atol=tolerance)
        numpy.testing.assert_allclose(gy, x * gw, atol=tolerance)
        numpy.testing.assert_array_equal(x, original)

    def test_none_grad_output(self):
        x = numpy.array([1.0, 2.0])
        (gx,) = gradient_check.numerical_grad(lambda: (x * 2, x * 3), (x,), (None, numpy.ones(2)))
        numpy.testing.assert_allclose(gx, [3, 3])

    def test_output_that_is_the_input(self):
        x = numpy.array([1.0, 2.0])
        (gx,) = gradient_check.numerical_grad(lambda: (x,), (x,), (numpy.ones(2),))
        numpy.testing.assert_allclose(gx, [1, 1])

    def test_not_contiguous(self):
        x = numpy.arange(6.0).reshape(2, 3).T
        (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (numpy.ones((3, 2)),))
        numpy.testing.assert_allclose(gx, 2 * x, atol=1e-9)

    def test_bad(self):
        x = numpy.ones(2)
        with pytest.raises(RuntimeError, match='must be kind of float, not int'):
            gradient_check.numerical_grad(lambda: (x,), (numpy.ones(2, int),), (x,))
        with pytest.raises(AssertionError, match='eps'):
            gradient_check.numerical_grad(lambda: (x,), (x,), (x,), eps=0)
        with pytest.raises(ValueError, match='as many elements'):
            gradient_check.numerical_grad(lambda: (x, x), (x,), (x,))

    def test_input_is_restored_after_an_error(self):
        x = numpy.ones(2)

        def f():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            gradient_check.numerical_grad(f, (x,), (x,))
        assert (x == 1).all()

    @pytest.mark.chainerx
    def test_chainerx(self):
        x = chainer.get_device(CHX[0]).send(numpy.array([1, 2], 'f'))
        (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (x,), eps=1e-2)
        assert gx.device is x.device
        numpy.testing.assert_allclose(chainer.get_device('@numpy').send(gx), [2, 8], rtol=1e-3)


@pytest.mark.parametrize(
    'f, x, differentiable',
    [
        (lambda x: x * x, 1.0, True),
        (lambda x: numpy.maximum(x, 0), 0.0, False),
        (lambda x: numpy.maximum(x, 0), 4e-4, False),
        (lambda x: numpy.maximum(x, 0), 2e-3, True),
        (abs, 0.0, False),
        (abs, -1.0, True),
        (numpy.floor, 3.0, False),
        (numpy.floor, 3.5, True),
        (lambda x: numpy.where(x > 1, x, numpy.nan), 1.0, False),
        (lambda x: x * numpy.nan, 1.0, True),
        (lambda x: numpy.where(x > 1, numpy.inf, 0), 1.0, False),
        (lambda x: x * 0 + numpy.inf, 1.0, True),
        (numpy.exp, 2.0, True),
        (lambda x: x * 0 + 7, 1.0, True),
        (lambda x: (x + 1000).astype('f') * numpy.float32(math.pi), 1.0, True),
        (lambda x: (x > 0).astype(int), 1.0, True),
    ],
)
@pytest.mark.parametrize('given', [False, True])
def test_detect_nondifferentiable(f, x, differentiable, given):
    x = numpy.array([5.5, x])
    with numpy.errstate(invalid='ignore'):
        y = f(x)
        options = {'center_outputs': (y,)} if given else {}

        def check():
            gradient_check.numerical_grad(
                lambda: (f(x),), (x,), (numpy.ones(2),), detect_nondifferentiable=True, **options
            )

        if differentiable:
            check()
        else:
            with pytest.raises(
                gradient_check.NondifferentiableError, match='(?s)index in the input: .1,'
            ):
                check()
    assert x[0] == 5.5


class Square(chainer.FunctionNode):
    """Square, whose first or second gradient may be wrong."""

    def __init__(self, factor=2.0, grad_factor=None):
        self.factor = factor
        self.grad_factor = factor if grad_factor is None else grad_factor

    def forward(self, inputs):
        self.retain_inputs((0,))
        (x,) = inputs
        return (x * x,)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return SquareGrad(self.factor, self.grad_factor).apply((x, *grad_outputs))


class SquareGrad(chainer.FunctionNode):
    def __init__(self, factor, grad_factor):
        self.factor = factor
        self.grad_factor = grad_factor

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x, gy = inputs
        return ((self.factor * x * gy).astype(x.dtype),)

    def backward(self, indexes, grad_outputs):
        x, gy = self.get_retained_inputs()
        (ggx,) = grad_outputs
        return self.grad_factor * gy * ggx, self.grad_factor * x * ggx


def square(**kwargs):
    return lambda x: Square(**kwargs).apply((x,))[0]


def make(shape=(2, 3), dtype='d'):
    return numpy.random.uniform(0.5, 1, shape).astype(dtype)


class TestCheckBackward:
    @pytest.mark.parametrize(
        'dtype, options',
        [
            ('d', {}),
            ('f', {'dtype': 'd'}),
            ('e', {'dtype': numpy.float64, 'rtol': 1e-2}),
            ('f', {'atol': 1e-3, 'rtol': 1e-3, 'eps': 1e-2}),
        ],
    )
    @pytest.mark.parametrize('shape', [(), (3,), (2, 3), (0,)])
    def test_right(self, dtype, options, shape):
        gradient_check.check_backward(square(), make(shape, dtype), make(shape, dtype), **options)

    @pytest.mark.parametrize('dtype, options', [('d', {}), ('e', {'dtype': 'd', 'rtol': 1e-2})])
    def test_wrong(self, dtype, options):
        x, gy = make(dtype=dtype), make(dtype=dtype)
        with pytest.raises(AssertionError) as e:
            gradient_check.check_backward(square(factor=2.1), x, gy, **options)
        message = str(e.value)
        assert message.startswith('check_backward failed (eps=0.001 atol=1e-05 rtol=')
        for text in (
            'inputs[0]:',
            'grad_outputs[0]:',
            'directions[0]:',
            'gradients (numeric): ',
            'gradients (backward):',
            str(x),
        ):
            assert text in message

    def test_scalar_without_y_grad(self):
        gradient_check.check_backward(square(), make(()), None)
        with pytest.raises(ValueError, match='`y_grad` is `None`'):
            gradient_check.check_backward(square(), make(), None)

    def test_several_inputs_and_outputs(self):
        def f(x, y, i):
            return x * y, x + 1, y * x[i]

        args = (make(), make(), numpy.array([1, 0]))
        gys = (make(), None, make())
        gradient_check.check_backward(f, args, gys)
        with pytest.raises(RuntimeError, match='float64 that no_grads excludes'):
            gradient_check.check_backward(f, list(args), list(gys), no_grads=[False, True, True])
        gradient_check.check_backward(
            lambda x, y: x * y.array, args[:2], make(), no_grads=[False, True]
        )
        with pytest.raises(ValueError, match='same length of output values'):
            gradient_check.check_backward(f, args, gys[:2])
        with pytest.raises(ValueError, match='Length of no_grads param and xs should be same'):
            gradient_check.check_backward(f, args, gys, no_grads=[False])

    @pytest.mark.parametrize('dtype', [None, 'd'])
    @pytest.mark.parametrize('names', ['', 'W', 'Wb'])
    @pytest.mark.parametrize('n_in', [3, None])
    def test_links(self, n_in, names, dtype):
        link = L.Linear(n_in, 4)
        params = [getattr(link, name) for name in names]
        x, gy, ggx = make(dtype='f'), make((2, 4), 'f'), make(dtype='f')
        gradient_check.check_backward(link, x, gy, params, atol=1e-2, dtype=dtype)
        assert link.W.dtype == link.b.dtype == numpy.float32
        link = L.Linear(n_in, 4)
        params = [getattr(link, name) for name in names]
        ggs = [make(shape, 'f') for shape in [(4, 3), (4,)][: len(names)]]
        gradient_check.check_double_backward(link, x, gy, ggx, params, ggs, atol=1e-2, dtype=dtype)
        assert link.W.dtype == link.b.dtype == numpy.float32

    @pytest.mark.parametrize('device', ['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)])
    @pytest.mark.parametrize('dtype', [None, 'd'])
    def test_integer_input(self, device, dtype):
        def f(x, i):
            return F.select_item(x * x, i)

        send = chainer.get_device(device).send
        x, gy, ggx = send(make(dtype='f')), send(make((2,), 'f')), send(make(dtype='f'))
        args = (x, send(numpy.array([2, 0])))
        options = {'atol': 1e-2, 'dtype': dtype}
        gradient_check.check_backward(f, args, gy, **options)
        gradient_check.check_backward(f, args, gy, no_grads=[False, True], **options)
        # Inputs without gradient need no gradient of it.
        for ggxs in (ggx, (ggx,), (ggx, None)):
            gradient_check.check_double_backward(f, args, gy, ggxs, **options)
        with pytest.raises(ValueError, match='x_grad_grad must have one element per input'):
            gradient_check.check_double_backward(f, args, gy, (ggx, None, None), **options)

    @pytest.mark.parametrize('device', ['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)])
    @pytest.mark.parametrize(
        'constant',
        [
            lambda x, c: F.argmax(x, axis=1),
            lambda x, c: F.floor(x),
            lambda x, c: chainer.as_variable(x.array * 0 + 2),
            lambda x, c: chainer.as_variable(c.array + 1),
        ],
        ids=['integers', 'steps', 'array', 'input without gradient'],
    )
    @pytest.mark.parametrize('number', ['one', 'several', 'no others'])
    def test_outputs_without_gradient(self, device, constant, number):
        """Nothing flows back from them, whether or not they are given a gradient."""

        def f(x, c):
            y = constant(x, c)
            return {'one': (x * x, y), 'several': (y, x * x, y), 'no others': y}[number]

        send = chainer.get_device(device).send
        xs = send((make(), make()))
        options = {'no_grads': [False, True]}
        ys = f(*map(chainer.as_variable, xs))
        ys = ys if isinstance(ys, tuple) else (ys,)
        gys = [send(numpy.ones(y.shape, y.dtype)) for y in ys]
        gradient_check.check_backward(f, xs, gys, **options)
        if number == 'no others':
            gradient_check.check_backward(
                lambda *xs: f(*xs)[(0,) * ys[0].ndim], xs, None, **options
            )
        else:
            gradient_check.check_backward(f, xs, [None, *gys[1:]], **options)
            gradient_check.check_double_backward(f, xs, gys, send(make()), **options)

    def test_output_that_loses_the_graph(self):
        """The numerical gradient tells."""
        x, gy = make(), make()
        with pytest.raises(AssertionError, match='check_backward failed'):
            gradient_check.check_backward(lambda x: chainer.as_variable(x.array * x.array), x, gy)

    def test_wrong_shape_of_y_grad(self):
        with pytest.raises(ValueError, match=r'y_grad\[0\]'):
            gradient_check.check_backward(square(), make(), make((3,)))

    def test_identity_and_repeated_outputs(self):
        gradient_check.check_backward(lambda x: x, make(), make())
        gradient_check.check_backward(lambda x: (x * 2,) * 2, make(), (make(), make()))

        def repeated(x):
            y = x * x
            return y, y, y * y

        gradient_check.check_backward(repeated, make(), (make(), make(), make()))

    def test_params(self):
        w = chainer.Parameter(make((4, 3), 'f'))
        b = chainer.Parameter(make((4,), 'f'))
        w.grad = gw = make((4, 3), 'f')
        array = w.array

        def f(x):
            return F.linear(x, w, b)

        gradient_check.check_backward(f, make(dtype='f'), make((2, 4), 'f'), (w, b), dtype='d')
        gradient_check.check_backward(f, make(dtype='f'), make((2, 4), 'f'), w, atol=1e-2)
        assert w.array is array and w.dtype == numpy.float32
        numpy.testing.assert_array_equal(w.grad, gw)

        class Wrong(chainer.FunctionNode):
            def forward(self, inputs):
                self.retain_inputs((1,))
                return (inputs[0] * inputs[1],)

            def backward(self, indexes, gys):
                (w,) = self.get_retained_inputs()
                return gys[0] * w, gys[0] * w

        with pytest.raises(AssertionError, match=r'params\[0\]'):
            gradient_check.check_backward(
                lambda x: Wrong().apply((x, w))[0],
                make((4, 3), 'f'),
                make((4, 3), 'f'),
                (w,),
                dtype='d',
            )
        with pytest.raises(ValueError, match='not initialized'):
            gradient_check.check_backward(square(), make(), make(), chainer.Parameter())

    def test_integer_that_gets_a_gradient(self):
        class Wrong(chainer.FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2.0,)

            def backward(self, indexes, gys):
                return gys[0] * 2, gys[0].array.astype(int)

        x = make((2,))
        with pytest.raises(RuntimeError, match='gradient of int variable must be None'):
            gradient_check.check_backward(
                lambda x, i: Wrong().apply((x, i))[0], (x, numpy.array([1, 2])), make((2,))
            )

    def test_bad_dtype(self):
        with pytest.raises(ValueError, match='`dtype` is allowed only float type'):
            gradient_check.check_backward(square(), make(), make(), dtype=int)

    def test_nondifferentiable(self):
        x = numpy.array([0.0, 1.0])
        with pytest.raises(gradient_check.NondifferentiableError):
            gradient_check.check_backward(F.relu, x, numpy.ones(2), detect_nondifferentiable=True)
        gradient_check.check_backward(F.relu, x + 1, numpy.ones(2), detect_nondifferentiable=True)

    def test_old_style_function(self):
        class Old(chainer.Function):
            def forward(self, inputs):
                return (inputs[0] ** 2,)

            def backward(self, inputs, gys):
                return (2 * inputs[0] * gys[0],)

        gradient_check.check_backward(lambda x: Old()(x), make(), make())

    @pytest.mark.chainerx
    def test_chainerx(self):
        device = chainer.get_device(CHX[0])
        x, gy = device.send((make(dtype='f'), make(dtype='f')))
        gradient_check.check_backward(lambda x: x * x, x, gy, dtype='d')
        with pytest.raises(AssertionError):
            gradient_check.check_backward(square(factor=3.0), x, gy, dtype='d')

    @pytest.mark.gpu
    def test_gpu(self):
        x, gy = chainer.get_device('@cupy:0').send((make(dtype='f'), make(dtype='f')))
        gradient_check.check_backward(square(), x, gy, dtype='d')
        with pytest.raises(AssertionError):
            gradient_check.check_backward(square(factor=3.0), x, gy, dtype='d')


class TestCheckDoubleBackward:
    @pytest.mark.parametrize('dtype, options', [('d', {}), ('e', {'dtype': 'd', 'rtol': 1e-2})])
    def test_right(self, dtype, options):
        x, gy, ggx = make(dtype=dtype), make(dtype=dtype), make(dtype=dtype)
        gradient_check.check_double_backward(square(), x, gy, ggx, **options)

    def test_wrong(self):
        with pytest.raises(AssertionError, match='check_double_backward failed'):
            gradient_check.check_double_backward(square(grad_factor=2.1), make(), make(), make())

    def test_linear_functions(self):
        gradient_check.check_double_backward(lambda x: x * 2, make(), make(), make())
        gradient_check.check_double_backward(lambda x: x, make(), make(), make())

    def test_several(self):
        def f(x, i, y):
            return x * y, y[i] * x

        args = (make(), numpy.array([1, 0]), make())
        gradient_check.check_double_backward(f, args, (make(), make()), (make(), None, make()))
        gradient_check.check_double_backward(f, args, (make(), None), (make(), None, None))
        gradient_check.check_double_backward(
            f, args, (make(), make()), (make(), make()), no_grads=[False, True, False]
        )
        with pytest.raises(RuntimeError, match='float64 that no_grads excludes'):
            gradient_check.check_double_backward(
                f, args, (make(), make()), make(), no_grads=[False, True, True]
            )

    def test_params(self):
        w = chainer.Parameter(make((4, 3)))
        gradient_check.check_double_backward(
            lambda x: F.linear(x, w) ** 2, make(), make((2, 4)), make(), w, make((4, 3))
        )

    def test_bad(self):
        with pytest.raises(ValueError, match='x_grad_grad must have one element per input'):
            gradient_check.check_double_backward(square(), make(), make(), (make(), make()))
        with pytest.raises(ValueError, match='params_grad_grad'):
            gradient_check.check_double_backward(
                square(), make(), make(), make(), chainer.Parameter(make())
            )
        with pytest.raises(ValueError, match='same length'):
            gradient_check.check_double_backward(square(), make(), (make(), make()), make())

        class NoGrad(chainer.FunctionNode):
            def forward(self, inputs):
                return inputs

            def backward(self, indexes, gys):
                return (None,)

        with pytest.raises(RuntimeError, match='no gradient of input 0'):
            gradient_check.check_double_backward(
                lambda x: NoGrad().apply((x,))[0], make(), make(), make()
            )


def test_assert_allclose():
    gradient_check.assert_allclose(numpy.ones(3), [1, 1, 1])
    with pytest.raises(AssertionError):
        gradient_check.assert_allclose(numpy.ones(3), [1, 1, 2])
