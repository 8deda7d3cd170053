import unittest

import pytest

from chainer.testing import condition


class Case(unittest.TestCase):
    """Its test fails as ``outcomes`` says, one run after the other."""

    __test__ = False

    def runTest(self):
        pass

    def setUp(self):
        self.log.append('set up')
        self.addCleanup(self.log.append, 'clean up')
        self.resource = []

    def tearDown(self):
        self.log.append('tear down')
        del self.resource  # fails unless each run has its own

    def body(self):
        run = self.log.count('run')
        self.log.append('run')
        if not self.outcomes[run]:
            raise ValueError(f'run {run}')


def call(decorator, outcomes):
    case = type('Case', (Case,), {'outcomes': outcomes, 'log': []})
    decorator(Case.body)(case())
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
    assert case.log == ['set up', 'run', 'tear down', 'clean up'] * runs


def test_set_up_around_repetitions():
    class Repeated(Case):
        outcomes = [1, 1]
        log = []
        runTest = condition.repeat(2)(Case.body)

    result = unittest.TestResult()
    Repeated().run(result)
    assert result.wasSuccessful()
    once = ['set up', 'run', 'tear down', 'clean up']
    assert Repeated.log == ['set up', *once, *once, 'tear down', 'clean up']


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
        condition.retry(3)(body)(type('Case', (Case,), {'log': []})())


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
