"""Which classes of this package a program has changed."""

import functools

import pytest

import chainer
from chainer.compilation._kinds.ownership import is_patched

pytestmark = pytest.mark.chainerx


def own(self, *args):
    return None


class Own(chainer.Parameter):
    """A class of a program, which may define what it likes."""

    update = own


def _set(name, value):
    return lambda patch: patch.setattr(chainer.Parameter, name, value, raising=False)


CHANGES = {
    'a method': _set('update', own),
    'a method of a base': lambda patch: patch.setattr(chainer.Variable, 'cleargrad', own),
    'a property': _set('grad', property(own)),
    'a part of a property': _set('grad', property(chainer.Variable.grad.fget, own)),
    'a static method': _set('initialize', staticmethod(own)),
    'an object that can be called': _set('update', functools.partial(own)),
    'a new method': _set('further', own),
    'the code of a method': lambda patch: patch.setattr(
        chainer.Parameter.update, '__code__', own.__code__
    ),
    'the code of a property': lambda patch: patch.setattr(
        chainer.Variable.grad.fget, '__code__', own.__code__
    ),
}


@pytest.mark.parametrize('kind', [chainer.Parameter, Own])
@pytest.mark.parametrize('name', CHANGES)
def test_changes(name, kind):
    """They are seen however often it was asked before, and when they are taken back."""
    for _ in range(2):
        assert not is_patched(kind) and not is_patched(kind)
        with pytest.MonkeyPatch.context() as patch:
            CHANGES[name](patch)
            assert is_patched(kind) and is_patched(kind)
    assert not is_patched(kind)
