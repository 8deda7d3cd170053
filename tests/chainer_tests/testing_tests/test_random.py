import random
import unittest

import numpy
import pytest

from chainer import testing
from chainer.testing import random as random_


def draw():
    return random.random(), numpy.random.uniform(), testing.generate_seed()


def test_setup_and_teardown():
    states = random.getstate(), numpy.random.get_state()[1].tolist()
    random_.do_setup()
    first = draw()
    random_.do_teardown()
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == states
    random_.do_setup()
    assert draw() == first
    random_.do_setup(deterministic=False)
    assert draw() != first
    random_.do_teardown()
    random_.do_teardown()
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == states


def test_function():
    fixed = testing.fix_random()(draw)
    assert fixed() == fixed()
    assert draw() != draw()


def test_function_error_restores():
    state = random.getstate()

    @testing.fix_random()
    def fail():
        random.random()
        raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert random.getstate() == state


drawn = {}


def run(case, name):
    result = unittest.TestResult()
    case(name).run(result)
    assert result.wasSuccessful()


def test_unittest_class():
    values = []

    @testing.fix_random()
    class Case(unittest.TestCase):
        def setUp(self):
            values.append(draw())

        def test_a(self):
            values.append(draw())

        test_b = test_a

    state = random.getstate()
    run(Case, 'test_a')
    run(Case, 'test_b')
    assert random.getstate() == state
    assert values[:2] == values[2:]
    assert values[0] != values[1]


def test_failing_setup_restores():
    @testing.fix_random()
    class Case(unittest.TestCase):
        def setUp(self):
            random.random()
            raise ValueError

        def test_a(self):
            pass

    state = random.getstate()
    Case('test_a').run(unittest.TestResult())
    assert random.getstate() == state


@testing.fix_random(setup_method='setup_method', teardown_method='teardown_method')
class TestPlainClass:
    @pytest.mark.parametrize('i', [0, 1])
    def test_draw(self, i):
        values = draw()
        assert drawn.setdefault('plain', values) == values


@testing.fix_random()
@testing.parameterize({'i': 0}, {'i': 1})
class TestParameterized(unittest.TestCase):
    def test_draw(self):
        assert draw() == drawn.setdefault('parameterized', self._expected())

    def _expected(self):
        random_.do_setup()
        try:
            return draw()
        finally:
            random_.do_teardown()


def test_bad_target():
    with pytest.raises(ValueError, match='int'):
        testing.fix_random()(1)


def test_seed_range():
    seeds = [testing.generate_seed() for _ in range(100)]
    assert all(isinstance(s, int) and 0 <= s < 2**31 for s in seeds)
