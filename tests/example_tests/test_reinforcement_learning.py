import re
import sys

import pytest


def returns(out):
    return [float(value) for value in re.findall(r'return: (\S+)', out)]


@pytest.mark.parametrize('options', [(), ('--double-dqn', '--render')])
def test_dqn(run_example, tmp_path, device, options):
    out = run_example(
        'reinforcement_learning/dqn_cartpole.py',
        '-e',
        5,
        '-b',
        8,
        '-u',
        10,
        '--replay-start-size',
        20,
        '-d',
        device,
        *options,
    )
    assert len(returns(out)) == 5
    assert ('angle' in out) == ('--render' in options)
    assert (tmp_path / 'result' / 'q_function.npz').exists()


def test_ddpg(run_example, tmp_path, device):
    out = run_example(
        'reinforcement_learning/ddpg_pendulum.py',
        '-e',
        1,
        '-b',
        8,
        '-u',
        10,
        '--replay-start-size',
        20,
        '-d',
        device,
    )
    (result,) = returns(out)
    assert -2000 < result < 0
    assert (tmp_path / 'result' / 'policy.npz').exists()


def test_unknown_environment(run_example, monkeypatch):
    monkeypatch.setitem(sys.modules, 'gymnasium', None)
    with pytest.raises(SystemExit, match='Acrobot-v1 needs Gymnasium'):
        run_example('reinforcement_learning/dqn_cartpole.py', '--env', 'Acrobot-v1')


@pytest.mark.slow
def test_dqn_learns(run_example):
    out = run_example(
        'reinforcement_learning/dqn_cartpole.py',
        '-e',
        75,
        '-b',
        32,
        '-u',
        64,
        '--iterations-to-decay-epsilon',
        2000,
    )
    values = returns(out)
    assert sum(values[-20:]) > 3 * sum(values[:20])
