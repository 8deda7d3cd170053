import pytest

import chainer


class Recorder(chainer.LinkHook):
    name = 'Recorder'

    def __init__(self):
        self.events = []

    def added(self, link):
        self.events.append(('added', link))

    def deleted(self, link):
        self.events.append(('deleted', link))

    def forward_preprocess(self, args):
        assert args.forward_name == 'forward'
        self.events.append(('pre', args.link, args.args, args.kwargs))

    def forward_postprocess(self, args):
        self.events.append(('post', args.link, args.args, args.kwargs, args.out))


class Add(chainer.Link):
    def forward(self, x, y=0):
        return x + y


def test_with_statement():
    link, hook = Add(), Recorder()
    with hook as entered:
        assert entered is hook
        link(1, y=2)
    link(3)
    assert hook.events == [
        ('added', None),
        ('pre', link, (1,), {'y': 2}),
        ('post', link, (1,), {'y': 2}, 3),
        ('deleted', None),
    ]


def test_local():
    link, other, hook = Add(), Add(), Recorder()
    assert link.add_hook(hook) is link
    assert list(link.local_link_hooks) == ['Recorder']
    other(1)
    link(1)
    link.delete_hook('Recorder')
    link(2)
    assert [event[0] for event in hook.events] == ['added', 'pre', 'post', 'deleted']


def test_errors():
    link = Add()
    link.add_hook(Recorder(), 'other')
    link.add_hook(Recorder())
    with pytest.raises(KeyError):
        link.add_hook(Recorder())
    with pytest.raises(TypeError):
        link.add_hook(chainer.FunctionHook())
    with pytest.raises(KeyError):
        link.delete_hook('missing')
    with Recorder():
        with pytest.raises(KeyError):
            with Recorder():
                pass


def test_shared_copy_has_its_own_hooks():
    link = Add().add_hook(Recorder())
    link.copy().delete_hook('Recorder')
    assert list(link.local_link_hooks) == ['Recorder']
