import threading

import numpy
import pytest

import chainer
from chainer import function_hook, functions as F, links as L


class Recorder(chainer.FunctionHook):
    name = 'Recorder'

    def __init__(self):
        self.log = []

    def added(self, function):
        self.log.append(('added', function))

    def deleted(self, function):
        self.log.append(('deleted', function))

    def forward_preprocess(self, function, in_data):
        self.log.append(('forward_pre', function.label, len(in_data)))

    def forward_postprocess(self, function, in_data):
        self.log.append(('forward_post', function.label, len(in_data)))

    def backward_preprocess(self, function, in_data, out_grad):
        self.log.append(('backward_pre', function.label, len(in_data), len(out_grad)))

    def backward_postprocess(self, function, in_data, out_grad):
        self.log.append(('backward_post', function.label, len(in_data), len(out_grad)))


def test_callbacks():
    x = chainer.Variable(numpy.ones((), 'f'))
    hook = Recorder()
    with hook as entered:
        assert entered is hook
        assert chainer.get_function_hooks() == {'Recorder': hook}
        y = x + x
        y.backward()
    x + x
    assert chainer.get_function_hooks() == {}
    assert hook.log == [
        ('added', None),
        ('forward_pre', '_ + _', 2),
        ('forward_post', '_ + _', 2),
        ('backward_pre', '_ + _', 2, 1),
        # The sum of the gradients of both inputs, which are the same variable.
        ('forward_pre', '_ + _', 2),
        ('forward_post', '_ + _', 2),
        ('backward_post', '_ + _', 2, 1),
        ('deleted', None),
    ]


@pytest.mark.parametrize('kernels', ['never', 'auto', 'always'])
def test_functions_of_gradients(kernels):
    def forward():
        y = F.relu(link(numpy.ones((2, 3), 'f')))
        return F.sum(F.relu(y))

    link = L.Linear(3, 2)
    forward().backward()
    expected = link.W.grad * 2
    hook = chainer.function_hooks.TimerHook()
    with chainer.using_config('use_native_kernels', kernels), hook:
        forward().backward()
    assert [name for name, _ in hook.call_history] == [
        *['LinearFunction', 'ReLU', 'ReLU', 'Sum'],
        *['BroadcastTo', 'Sum', 'ReLUGrad2', 'ReLU', 'ReLUGrad2', 'ReLU'],
        *['LinearGradWeight', 'Sum', 'Add', 'Add', 'LinearFunction'],
    ]
    numpy.testing.assert_allclose(link.W.grad, expected, rtol=1e-6)


def test_no_hooks_during_forward():
    with chainer.using_config('use_native_kernels', 'always'):
        x = chainer.Variable(numpy.array([-1, 2], 'f'))
        y = F.relu(x)
        y.grad = numpy.ones(2, 'f')
        with Recorder():
            y.backward()
    assert x.grad.tolist() == [0, 1]


def test_one_of_a_name():
    with Recorder():
        with pytest.raises(KeyError, match='hook Recorder already exists'):
            with Recorder():
                pass
        assert list(chainer.get_function_hooks()) == ['Recorder']


def test_removed_after_an_error():
    with pytest.raises(ZeroDivisionError):
        with Recorder():
            raise ZeroDivisionError
    assert not chainer.get_function_hooks()


def test_hooks_belong_to_the_thread():
    with Recorder():
        seen = []
        thread = threading.Thread(target=lambda: seen.append(dict(chainer.get_function_hooks())))
        thread.start()
        thread.join()
    assert seen == [{}]


def test_base_callbacks_do_nothing():
    x = chainer.Variable(numpy.ones((), 'f'))
    with function_hook.FunctionHook():
        (x * x).backward()
    assert x.grad == 2
