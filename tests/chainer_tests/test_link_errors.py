"""Errors and warnings that say what is wrong with a link, or with what it is given."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer.utils.type_check import InvalidType


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.body = chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))

    def forward(self, x):
        return self.body(x)


class Shortcut(chainer.Chain):
    """Calls links of links, and one through a function."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.mlp = MLP()

    def forward(self, x):
        return self.mlp.body[2](x)


X64 = np.ones((2, 3))


@pytest.mark.parametrize(
    ('call', 'text'),
    [
        (
            lambda: MLP()(X64),
            'It happened in the link /body/0 (Linear) of MLP: its parameters are float32, but its '
            "input x is float64. Use x.astype('float32').",
        ),
        (
            lambda: MLP()(chainer.Variable(X64)),
            "input x is float64. Use F.cast(x, 'float32').",
        ),
        (
            lambda: L.Classifier(MLP())(X64, np.zeros(2, np.int32)),
            'in the link /predictor/body/0 (Linear) of Classifier: its parameters are float32, but',
        ),
        (
            lambda: MLP()(X64.astype(np.int32)),
            "its parameters are float32, but its input x is int32. Use x.astype('float32').",
        ),
        (lambda: L.Linear(3, 4)(x=X64), 'in the link Linear: its parameters are float32, but'),
        (
            lambda: Shortcut()(np.ones((2, 4))),
            'in the link /mlp/body/1 (Linear) of Shortcut: its parameters are float32, but',
        ),
        (lambda: MLP()(X64[:, :2].astype('f')), 'in the link /body/0 (Linear) of MLP.'),
        (lambda: L.EmbedID(3, 4)(np.ones(3, np.float64)), 'in the link EmbedID.'),
        (
            lambda: MLP()(np.ones((2, 5, 3), np.float32)),
            'in the link /body/0 (Linear) of MLP. It flattens all axes of an input of shape '
            '(2, 5, 3) but the first; n_batch_axes=2 applies it to the last axis alone.',
        ),
        (lambda: MLP()(np.ones((2, 3, 5), np.float32)), 'in the link /body/0 (Linear) of MLP.'),
    ],
)
@pytest.mark.parametrize('hooked', [False, True])
def test_which_link_refuses_an_input(call, text, hooked):
    with pytest.raises(InvalidType) as info:
        if hooked:
            with chainer.link_hooks.TimerHook():
                call()
        else:
            call()
    message = str(info.value)
    assert message.endswith(text) or f'{text} ' in message, message
    assert message.count('It happened') == 1
    assert 'Expect: ' in message and info.value.expect in message


def _set(**attributes):
    """Makes a chain that has links outside of its scope."""
    link = chainer.Chain()
    for name, value in attributes.items():
        setattr(link, name, value)
    return link


def _in_scope(link=None, **attributes):
    link = link or chainer.Chain()
    with link.init_scope():
        _set_all(link, attributes)
    return link


def _set_all(link, attributes):
    for name, value in attributes.items():
        setattr(link, name, value)


@pytest.mark.parametrize(
    ('make', 'text'),
    [
        (lambda: _set(l1=L.Linear(1, 1)), '/l1 of Chain is a link that is not registered'),
        (lambda: _set(W=chainer.Parameter(0, (1,))), '/W of Chain is a parameter that is not'),
        (lambda: _set(ls=[L.Linear(1, 1)]), '/ls of Chain is a list of links that is not'),
        (lambda: _in_scope(ls=[L.Linear(1, 1)], a=L.Linear(1, 1)), '/ls of Chain is a list of'),
        (lambda: _in_scope(d={1: L.Linear(1, 1)}, a=L.Linear(1, 1)), '/d of Chain is a dict of'),
        (
            lambda: _in_scope(ws=[chainer.Parameter(0, (1,))], a=L.Linear(1, 1)),
            '/ws of Chain is a list of parameters that is not .* Assign each inside',
        ),
        (lambda: chainer.Chain(c=_in_scope(t=(L.Linear(1, 1),))), '/c/t of Chain is a tuple of'),
    ],
)
@pytest.mark.parametrize(
    'use', [chainer.Link.count_params, lambda link: chainer.optimizers.SGD().setup(link)]
)
def test_links_that_nothing_registers(make, text, use):
    link = make()
    with pytest.warns(UserWarning, match=text) as record:
        use(link)
    assert len(record) == 1
    assert record[0].filename == __file__


def _registered_later():
    link = _in_scope(ls=[L.Linear(1, 1), L.Linear(1, 1)])
    for i, child in enumerate(link.ls):
        link.add_link(f'l{i}', child)
    return link


def _registered_parameters():
    link = _in_scope(w1=chainer.Parameter(0, (1,)), w2=chainer.Parameter(0, (1,)))
    return _in_scope(link, ls=[link.w1, link.w2])


def _teacher():
    link = _in_scope(a=L.Linear(1, 1))
    link.teacher = L.Linear(1, 1)
    link.all = [link.a, link.teacher]
    return link


@pytest.mark.parametrize(
    'make',
    [
        _registered_later,
        _registered_parameters,
        _teacher,
        chainer.Chain,
        lambda: _set(f=F.relu, n=[1, 2], device_name='x'),
        lambda: _in_scope(a=L.Linear(1, 1), names=['a'], empty=[]),
        lambda: chainer.Sequential(L.Linear(1, 1), F.relu),
        lambda: chainer.ChainList(L.Linear(1, 1)),
        lambda: L.NStepLSTM(2, 3, 4, 0.0),
        lambda: L.TransformerEncoderLayer(4, 2),
    ],
)
def test_what_may_be_meant_gives_no_warning(make):
    link = make()
    link.count_params()
    chainer.optimizers.SGD().setup(link)
    assert ('_containers' in vars(link)) == hasattr(link, 'ls')


class Forgetful(chainer.Chain):
    def __init__(self, in_scope=False):
        if in_scope:
            with self.init_scope():
                self.l1 = L.Linear(1, 1)
        self.l1 = L.Linear(1, 1)

    def forward(self, x):
        return self.l1(x)


@pytest.mark.parametrize(
    ('use', 'error'),
    [
        (lambda: Forgetful(in_scope=True), RuntimeError),
        (lambda: Forgetful()(np.ones((1, 1), np.float32)), RuntimeError),
        (lambda: list(Forgetful().params()), AttributeError),
        (lambda: list(Forgetful().children()), AttributeError),
        (lambda: chainer.optimizers.SGD().setup(Forgetful()), AttributeError),
    ],
)
def test_a_link_that_is_not_initialized(use, error):
    message = r'Link.__init__\(\) has not been called. Forgetful.__init__ must call super\(\)'
    with pytest.raises(error, match=message):
        use()
    assert not hasattr(Forgetful(), '_params')
    assert not hasattr(chainer.Link, '_params')


class Backward(chainer.FunctionNode):
    def forward_cpu(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0].reshape((1, -1)),)


class OldBackward(chainer.Function):
    def forward_cpu(self, inputs):
        return (inputs[0] * 2,)

    def backward_cpu(self, inputs, grad_outputs):
        return (np.ones(2, np.float32),)


class Native(chainer.FunctionNode):
    def __init__(self, outputs):
        self.outputs_to_return = outputs

    def forward_chainerx(self, inputs):
        return self.outputs_to_return(inputs[0])


@pytest.mark.chainerx
@pytest.mark.parametrize(
    ('call', 'text'),
    [
        (lambda x: Backward().apply((x,)), r'Backward \(Backward\): gradient of input 0 is of .*'),
        (lambda x: [OldBackward()(x)], r'OldBackward \(Backward\): gradient of input 0 is of'),
        (lambda x: Native(lambda x: x).apply((x,)), r'must be a tuple.*\(Native\)'),
        (lambda x: Native(lambda x: None).apply((x,)), r'must be a tuple.*\(Native\)'),
        (
            lambda x: Native(lambda x: (np.ones(3),)).apply((x,)),
            'must be a tuple of chainerx.ndarray, but Native returned .*numpy.ndarray',
        ),
    ],
)
def test_functions_of_users_on_chainerx(call, text):
    x = chainer.Variable(np.ones(3, np.float32))
    x.to_device('native:0')
    with pytest.raises(Exception, match=text):
        (y,) = call(x)
        y.grad = y.array.copy()
        y.backward()


@pytest.mark.parametrize(
    ('spec', 'similar'),
    [
        ('cpu', "'@numpy' for NumPy, 'native:0' for ChainerX"),
        ('cpu:0', "'@numpy' for NumPy, 'native:0' for ChainerX"),
        (('cpu', 0), "'@numpy' for NumPy, 'native:0' for ChainerX"),
        ('GPU', "'@cupy:0' for CuPy, 'cuda:0' for ChainerX"),
        ('numpy', "'@numpy'"),
        ('cupy:1', "'@cupy:0'"),
        ('chainerx', "'native:0', 'cuda:0' or the module chainerx"),
    ],
)
def test_devices_with_another_name(spec, similar):
    with pytest.raises(Exception, match=f'Did you mean {similar}') as info:
        chainer.get_device(spec)
    if chainerx.is_available():
        assert type(info.value) is chainerx.BackendError
    else:
        assert type(info.value) is RuntimeError
