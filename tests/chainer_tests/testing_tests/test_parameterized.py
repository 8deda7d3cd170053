import sys
import unittest

import numpy
import pytest

from chainer import initializers, testing


@pytest.mark.parametrize(
    'parameter,expected',
    [
        (
            {'a': [1, 2], 'b': [3, 4]},
            [{'a': 1, 'b': 3}, {'a': 1, 'b': 4}, {'a': 2, 'b': 3}, {'a': 2, 'b': 4}],
        ),
        (
            {'b,c': [(1, 2), (3, 4)], 'a': [5]},
            [{'a': 5, 'b': 1, 'c': 2}, {'a': 5, 'b': 3, 'c': 4}],
        ),
        ({'a': [(1, 2)]}, [{'a': (1, 2)}]),
        ({}, [{}]),
        ({'a': []}, []),
        (
            [[{'a': 1}, {'a': 2}], [{'b': 3, 'c': 4}]],
            [{'a': 1, 'b': 3, 'c': 4}, {'a': 2, 'b': 3, 'c': 4}],
        ),
    ],
)
def test_product(parameter, expected):
    assert testing.product(parameter) == expected


@pytest.mark.parametrize('parameter', [1, 'ab', [{'a': 1}], [[1]], ({'a': 1},)])
def test_product_bad(parameter):
    with pytest.raises(TypeError, match='parameter must be'):
        testing.product(parameter)


def test_product_dict():
    assert testing.product_dict([{'a': 1}, {'a': 2}], [{'b': 1}]) == [
        {'a': 1, 'b': 1},
        {'a': 2, 'b': 1},
    ]
    assert testing.product_dict() == [{}]


@pytest.mark.parametrize(
    'names,values,expected',
    [
        ('a', [1, (2, 3)], [{'a': 1}, {'a': (2, 3)}]),
        ('a,b', [(1, 2), [3, 4]], [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]),
        ('a, b', [(1, 2)], [{'a': 1, ' b': 2}]),
        (['a', 'b'], [(1, 2)], [{'a': 1, 'b': 2}]),
    ],
)
def test_from_pytest_parameterize(names, values, expected):
    assert testing.from_pytest_parameterize(names, values) == expected


def test_from_pytest_parameterize_bad():
    with pytest.raises(ValueError, match='2 values'):
        testing.from_pytest_parameterize('a,b', [(1, 2, 3)])


def generated(prefix):
    module = sys.modules[__name__]
    return {
        name: value
        for name, value in vars(module).items()
        if name.startswith(prefix) and isinstance(value, type)
    }


def run(case, method):
    result = unittest.TestResult()
    case(method).run(result)
    return result


@testing.parameterize({'x': 1, 'f': abs}, {'x': -2, 'f': lambda x: x * x})
class TestUnittest(unittest.TestCase):
    def setUp(self):
        self.set_up_x = self.x

    def test_params(self):
        assert self.set_up_x == self.x
        assert self.f(self.x) in (1, 4)


@testing.parameterize(*testing.product({'x': [1, 2], 'dtype': [numpy.float32]}))
class TestPlain:
    @pytest.fixture
    def one(self):
        return 1

    def test_fixture(self, one):
        assert self.x + one in (2, 3)


@testing.parameterize_pytest('a, b', [(1, 2), (2, 3)])
class TestPytestStyle:
    def test_params(self):
        assert self.b == self.a + 1


@testing.parameterize({'a': 1}, {'a': 2})
@testing.parameterize({'b': 3})
class TestStacked(unittest.TestCase):
    def test_params(self):
        assert (self.a, self.b) in [(1, 3), (2, 3)]


def test_names():
    assert sorted(generated('TestPlain')) == [
        'TestPlain_param_0_{dtype=float32, x=1}',
        'TestPlain_param_1_{dtype=float32, x=2}',
    ]
    for name, case in generated('TestPlain').items():
        assert case.__name__ == name
        assert case.__module__ == __name__


@pytest.mark.parametrize(
    'value,text',
    [
        (numpy.float32, 'float32'),
        (test_names, 'test_names'),
        (numpy.zeros((2, 3), 'f'), 'array(shape=(2, 3), dtype=float32)'),
        (numpy.float32(0.5), '0.5'),
        ((numpy.int64(1), numpy.bool_(True)), '(1, True)'),
        ({'b', 'a', 'c'}, "{'a', 'b', 'c'}"),
        (object(), '<object object>'),
        ([initializers.Zero()], '[<chainer.initializers.constant.Zero object>]'),
        ('a b', "'a b'"),
    ],
)
def test_names_of_values(value, text):
    bundle = testing.parameterize({'x': value})(type('Case', (), {'__module__': __name__}))
    assert type(bundle).__name__ == '_ParameterizedTestCaseBundle'
    (case,) = bundle.cases
    assert case.__name__ == f'Case_param_0_{{x={text}}}'
    delattr(sys.modules[__name__], case.__name__)


def test_stacked():
    assert sorted((c.a, c.b) for c in generated('TestStacked').values()) == [(1, 3), (2, 3)]


def test_decorated_class_is_not_collected():
    assert not isinstance(TestUnittest, type)


def test_long_values():
    @testing.parameterize(*[{f'x{i}': 'a' * 10000 for i in range(100)}])
    class LongValues:
        pass

    (name,) = generated('LongValues')
    assert len(name) < 6000
    assert 'a...' in name


def test_str():
    case = generated('TestUnittest_param_0')
    (case,) = case.values()
    assert str(case('test_params')).endswith(f"parameter: {{'x': 1, 'f': {abs!r}}}")


class Custom(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


@testing.parameterize(
    {'error': ValueError('bad')},
    {'error': Custom(1, 2)},
    {'error': AssertionError('no')},
    {'error': unittest.SkipTest('skip')},
)
class Failing(unittest.TestCase):
    __test__ = False  # run below

    def test_fail(self):
        raise self.error


@pytest.mark.parametrize(
    'name,kind', [('ValueError', 'errors'), ('Custom', 'failures'), ('AssertionError', 'failures')]
)
def test_message(name, kind):
    (case,) = [c for c in generated('Failing').values() if type(c.error).__name__ == name]
    ((_, text),) = getattr(run(case, 'test_fail'), kind)
    assert 'Parameterized test failed.' in text
    assert 'Base test method: Failing.test_fail' in text
    assert '  error: ' in text


def test_skip():
    (case,) = [c for c in generated('Failing').values() if isinstance(c.error, unittest.SkipTest)]
    result = run(case, 'test_fail')
    assert [reason for _, reason in result.skipped] == ['skip']
    assert result.wasSuccessful()
