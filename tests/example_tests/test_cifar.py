import numpy
import pytest

OPTIONS = ('--dataset', 'digits', '--unit', 2, '--test', '-e', 1)


@pytest.mark.parametrize('model', ['VGG', 'resnet50'])
def test_train(run_example, read_log, device, model):
    run_example('cifar/train_cifar.py', *OPTIONS, '--model', model, '-d', device)
    (log,) = read_log()
    assert log['iteration'] == 4 and log['main/loss'] < 10


def test_resume_and_early_stopping(run_example, read_log):
    run_example('cifar/train_cifar.py', *OPTIONS)
    options = *OPTIONS[:-1], 2, '--resume', 'result/snapshot_epoch_1', '--early-stopping'
    run_example('cifar/train_cifar.py', *options)
    assert [entry['epoch'] for entry in read_log()] == [1, 2]


def test_custom_loop(run_example, device, tmp_path):
    out = run_example('cifar/train_cifar_custom_loop.py', *OPTIONS, '-d', device, '-o', 'out')
    assert 'epoch: 1' in out and 'test mean loss' in out
    run_example('cifar/train_cifar_custom_loop.py', *OPTIONS, '-d', device, '-r', 'out')
    with numpy.load(tmp_path / 'result' / 'cifar.state') as state:
        assert state['t'] == 8  # four iterations each time


@pytest.mark.slow
def test_learns(run_example, read_log):
    run_example(
        'cifar/train_cifar.py',
        '--dataset',
        'digits',
        '--test',
        '-u',
        4,
        '-e',
        8,
        '-b',
        20,
        '--model',
        'resnet50',
    )
    log = read_log()
    # Few steps: how far they lead depends on rounding.
    assert log[-1]['main/accuracy'] > log[0]['main/accuracy'] + 0.1
    assert log[-1]['main/loss'] < log[0]['main/loss']
