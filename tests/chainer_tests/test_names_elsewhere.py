"""Hints for what other libraries call things."""

import importlib
import inspect
import pickle
import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer._core import hints
from chainer._core.names_elsewhere import NAMES, PYTORCH

MODEL = chainer.Sequential(L.Linear(2, 2))
OWNERS = {
    'Link': MODEL,
    'Optimizer': chainer.optimizers.SGD().setup(MODEL),
    'Variable': chainer.Variable(np.ones(2, np.float32)),
}
SCOPE = {
    'F': F,
    'L': L,
    'np': np,
    'chainer': chainer,
    'model': MODEL,
    'optimizer': OWNERS['Optimizer'],
    'x': OWNERS['Variable'],
}


def _owner(row):
    return OWNERS[row.owner] if row.owner in OWNERS else importlib.import_module(row.owner)


@pytest.mark.parametrize('row', NAMES, ids=lambda row: f'{row.owner}.{row.theirs}')
def test_name(row):
    owner = _owner(row)
    assert not hasattr(owner, row.theirs)
    assert row.theirs not in dir(owner)
    assert getattr(owner, row.theirs, 1) == 1
    with pytest.raises(AttributeError, match=f'has no attribute {row.theirs!r}; in ') as info:
        getattr(owner, row.theirs)
    assert row.ours in str(info.value)
    assert info.value.name == row.theirs
    assert row.owner in PYTORCH


@pytest.mark.parametrize('row', NAMES, ids=lambda row: f'{row.owner}.{row.theirs}')
def test_what_is_named_exists(row):
    for text in row.ours, row.remark:
        for path in re.findall(r'(?<![\w./])(?:F|L|np|chainer|model|optimizer|x)(?:\.\w+)+', text):
            first, *names = path.split('.')
            value = SCOPE[first]
            for name in names:
                value = getattr(value, name)


def test_names_are_listed_once():
    keys = [(row.owner, row.theirs) for row in NAMES]
    assert sorted(set(keys)) == sorted(keys)


@pytest.mark.parametrize('owner', [*OWNERS.values(), chainer, F, L, chainer.optimizers])
def test_other_missing_names_have_no_hint(owner):
    with pytest.raises(AttributeError, match='no attribute .no_such_thing.$'):
        owner.no_such_thing  # noqa: B018


class Trainable:
    mode = None

    def train(self):
        return 'of the mixin'

    @classmethod
    def to(cls):
        return cls

    @property
    def state_dict(self):
        return self.missing


class WithMixin(chainer.Chain, Trainable):
    pass


class Overriding(chainer.Chain):
    def train(self):
        return 'of the class'


class Delegating(chainer.Chain):
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return 'delegated ' + name


def test_names_of_users_come_first():
    assert WithMixin().train() == 'of the mixin'
    assert WithMixin.to() is WithMixin
    assert WithMixin().to() is WithMixin
    assert Overriding().train() == 'of the class'
    assert Delegating().train == 'delegated train'
    assert 'train' in dir(WithMixin())
    assert 'train' in dir(Overriding())
    with pytest.raises(AttributeError, match="'WithMixin' object has no attribute 'missing'"):
        WithMixin().state_dict  # noqa: B018

    link = chainer.Chain()
    link.train = 1
    with link.init_scope():
        link.parameters = L.Linear(1, 1)
        link.to = chainer.Parameter(0, (1,))
    assert link.train == 1
    assert 'parameters' in dir(link)
    assert [name for name, _ in link.namedparams()] == ['/to', '/parameters/W', '/parameters/b']
    assert sorted(vars(pickle.loads(pickle.dumps(link)))) == sorted(vars(link))
    del link.train
    assert not hasattr(link, 'train')


def test_classes_have_hints_too():
    with pytest.raises(AttributeError, match="type object 'MLP' has no attribute 'parameters'; in"):
        type('MLP', (chainer.Chain,), {}).parameters  # noqa: B018
    assert inspect.getattr_static(chainer.Link, 'params') is chainer.Link.params
    assert 'params' not in hints.find('Link')
