"""Cases of what a program changes between calls of a compiled function.

A case is a function that returns a step and what changes what the step reads. Its name ends in
``_ends`` if nothing can watch the thing, so that there is no plan.
"""

import builtins
import contextlib
import inspect
import os

import pytest
from helpers.compiled import array, bits

import chainer
import chainer.functions as F
import chainer.links as L


def cases_of(cls):
    """Parametrizes a test with the functions of a class."""
    cases = inspect.getmembers(cls, inspect.isfunction)
    return pytest.mark.parametrize('name, case', cases, ids=[name for name, _ in cases])


@contextlib.contextmanager
def _restoring():
    """Takes back what cases change of modules, classes and the configuration."""
    places = (F, chainer, builtins, chainer.Parameter, chainer.Variable, L.Linear, F.relu)
    places += (type(chainer.config),)
    saved = [dict(vars(place)) for place in places]
    configurations = chainer.config, chainer.global_config
    try:
        yield
    finally:
        for place, values in zip(places, saved):
            for name in list(vars(place)):
                if name not in values:
                    delattr(place, name)
                elif vars(place)[name] is not values[name]:
                    setattr(place, name, values[name])
        for config in configurations:
            if 'own' in vars(config):
                delattr(config, 'own')


def check_change(name, case):
    """Checks that a compiled step follows the change, by another plan or without one."""
    with _restoring():
        _check_change(name, *case())


def _check_change(name, step, change):
    compiled = chainer.compile(step)
    x = array([1, 2, 3], 'f')
    for _ in range(5):
        expected = bits(step(x))
        assert bits(compiled(x)) == expected
    replays = compiled.replays
    if name.endswith('_ends'):
        assert replays == 0
        assert f'{os.path.basename(step.__code__.co_filename)}:' in compiled.report()
    else:
        assert replays == 3, compiled.report()
    change()
    changed = bits(compiled(x))
    assert changed == bits(step(x))
    assert changed != expected
    assert compiled.replays == replays
