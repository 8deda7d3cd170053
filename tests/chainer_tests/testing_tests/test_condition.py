import unittest

import pytest

from chainer.testing import condition


class Case(unittest.TestCase):
    """Its test fails as ``outcomes`` says, one run after the other."""

    def runTest(self):
        pass

    def setUp(self):
        self.set_up = getattr(self, 'set_up', 0) + 1

    def tearDown(self):
        self.torn_down = getattr(self, 'torn_down', 0) + 1

    def body(self):
        self.runs = getattr(self, 'runs', 0) + 1
        if not self.outcomes[self.runs - 1]:
            raise ValueError(f'run {self.runs}')


def call(decorator, outcomes):
    case = Case()
    case.outcomes = outcomes
    decorator(Case.body)(case)
    return case


@pytest.mark.parametrize(
    'decorator,outcomes,runs',
    [
        (condition.retry(3), [1], 1),
        (condition.retry(3), [0, 0, 1], 3),
        (condition.repeat(3), [1, 1, 1], 3),
        (condition.repeat_with_success_at_least(5, 2), [0, 1, 0, 1], 4),
        (condition.repeat_with_success_at_least(3, 0), [0], 1),
    ],
)
def test_success(decorator, outcomes, runs):
    case = call(decorator, outcomes)
    assert case.runs == case.set_up == case.torn_down == runs


@pytest.mark.parametrize(
    'decorator,outcomes,message',
    [
        (condition.retry(2), [0, 0], 'Fail: 2, Success: 0'),
        (condition.repeat(3), [1, 0], 'Fail: 1, Success: 1'),
        (condition.repeat_with_success_at_least(4, 3), [0, 0], 'Fail: 2, Success: 0'),
    ],
)
def test_failure(decorator, outcomes, message):
    with pytest.raises(AssertionError) as e:
        call(decorator, outcomes)
    assert message in str(e.value)
    assert 'ValueError: run' in str(e.value)


def test_skip():
    def body(self):
        raise unittest.SkipTest('reason')

    with pytest.raises(unittest.SkipTest, match='reason'):
        condition.retry(3)(body)(Case())


def test_bad_counts():
    with pytest.raises(AssertionError):
        condition.repeat_with_success_at_least(2, 3)


def test_plain_object_and_arguments():
    seen = []

    class Plain:
        @condition.retry(2)
        def test(self, value, key=None):
            seen.append((value, key))
            assert len(seen) == 2

    Plain().test(1, key=2)
    assert seen == [(1, 2)] * 2
    assert Plain.test.__name__ == 'test'


def test_quiet_runner(capsys):
    def fail():
        raise AssertionError

    suite = unittest.TestSuite([unittest.FunctionTestCase(fail)])
    result = condition.QuietTestRunner().run(suite)
    assert (result.testsRun, len(result.failures)) == (1, 1)
    assert capsys.readouterr() == ('', '')
