import json
import os
import re
import runpy
import sys

import numpy
import pytest

import chainer
from tests.helpers import trace_format
from tests.helpers.devices import CHX

FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))), 'examples', 'mnist'
)

DEVICES = [
    '@numpy',
    pytest.param(CHX[0], marks=pytest.mark.chainerx),
    pytest.param('0', marks=pytest.mark.gpu),
]
DEVICE_PAIRS = [
    ('@numpy', '@numpy'),
    pytest.param((CHX[0], CHX[1]), marks=pytest.mark.chainerx),
    pytest.param(('0', '1'), marks=pytest.mark.multi_gpu(2)),
]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a script in an empty folder; returns what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(FOLDER)

    def run(script, *options):
        monkeypatch.setattr(sys, 'argv', [script, *map(str, options)])
        with chainer.using_device('@numpy'):
            runpy.run_path(os.path.join(FOLDER, script), run_name='__main__')
        return capsys.readouterr().out

    device = None
    if _chainerx().is_available():
        device = _chainerx().get_default_device()
    yield run
    sys.modules.pop('_common', None)
    if device is not None:
        _chainerx().set_default_device(device)


def _chainerx():
    import chainerx

    return chainerx


def read_log(path):
    entries = json.loads(path.read_text())
    for entry in entries:
        del entry['elapsed_time']
    return entries


@pytest.mark.parametrize('device', DEVICES)
def test_train(run, tmp_path, device):
    out = run('train_mnist.py', '-d', device, '-u', 64, '-e', 8, '-b', 32, '--seed', 0)
    assert out.startswith(
        'Device: {}\n# unit: 64\n# Minibatch-size: 32\n# epoch: 8\n'.format(
            chainer.get_device(int(device) if device == '0' else device)
        )
    )
    assert 'epoch       main/loss   validation/main/loss  main/accuracy' in out
    log = read_log(tmp_path / 'result' / 'log')
    assert log[-1]['validation/main/accuracy'] > 0.9
    # ChainerX keeps graphs of its own, which are not dumped.
    graph = [] if device in CHX else ['cg.dot']
    for name in ['loss.png', 'accuracy.png', 'snapshot_iter_360', *graph]:
        assert (tmp_path / 'result' / name).stat().st_size > 0
    out = run('inference.py', '-s', 'result/snapshot_iter_360', '-u', 64, '-d', device)
    assert len(re.findall(r'label: \d  prediction: \d', out)) == 10
    assert float(re.search(r'accuracy: ([\d.]+)', out).group(1)) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize('device', DEVICES)
def test_defaults_reach_97_percent(run, tmp_path, device):
    run('train_mnist.py', '-d', device, '--noplot')
    log = json.loads((tmp_path / 'result' / 'log').read_text())
    assert log[-1]['validation/main/accuracy'] >= 0.97


@pytest.mark.parametrize('device', DEVICES)
def test_profile(run, tmp_path, device):
    out = run('train_mnist.py', '-d', device, '--noplot', '-u', 16, '-e', 3, '--profile')
    assert re.search(r'LinearFunction +forward +\d+ ', out)
    events = trace_format.read(tmp_path / 'result' / 'trace.json')
    assert [e['name'] for e in events].count('StandardUpdater.update_core') == 20


@pytest.mark.parametrize('device', DEVICES)
def test_resume(run, tmp_path, device):
    options = '-d', device, '-u', 16, '-f', 1, '--noplot'
    run('train_mnist.py', *options, '-e', 3, '-o', 'whole', '--seed', 0)
    run('train_mnist.py', *options, '-e', 2, '-o', 'part', '--seed', 0)
    run(
        'train_mnist.py',
        *options,
        '-e',
        3,
        '-o',
        'rest',
        '--seed',
        5,
        '-r',
        'part/snapshot_iter_29',
    )
    # The other way to resume, in the same folder
    run('train_mnist.py', *options, '-e', 3, '-o', 'part', '--seed', 6, '--autoload')
    assert read_log(tmp_path / 'rest' / 'log') == read_log(tmp_path / 'whole' / 'log')
    with numpy.load(tmp_path / 'whole' / 'snapshot_iter_44') as expected:
        for folder in 'rest', 'part':
            with numpy.load(tmp_path / folder / 'snapshot_iter_44') as actual:
                assert set(actual) == set(expected)
                for name in expected:
                    if 'model' in name or 'iterator' in name:
                        numpy.testing.assert_array_equal(actual[name], expected[name], name)


@pytest.mark.gpu
def test_losses_on_gpu(run, tmp_path):
    # From the same weights: lazy ones come from the generator of the device.
    options = '-u', 16, '-f', 1, '--noplot'
    run('train_mnist.py', *options, '-d', '@numpy', '-e', 1, '-o', 'start', '--seed', 0)
    (start,) = (tmp_path / 'start').glob('snapshot_iter_*')
    logs = []
    for device, out in ('@numpy', 'numpy'), ('@cupy:0', 'cupy'):
        run('train_mnist.py', *options, '-d', device, '-e', 3, '-o', out, '-r', start)
        logs.append(read_log(tmp_path / out / 'log'))
    assert logs[0][-1]['epoch'] == 3
    for expected, actual in zip(*logs, strict=True):
        assert actual == pytest.approx(expected, rel=0, abs=1e-5)


@pytest.mark.parametrize('device', DEVICES)
def test_custom_loop(run, tmp_path, device):
    out = run('train_mnist_custom_loop.py', '-d', device, '-u', 64, '-e', 6, '-b', 32, '--seed', 0)
    accuracy = re.findall(r'test mean  loss: [\d.]+, accuracy: ([\d.]+)', out)
    assert len(accuracy) == 6 and float(accuracy[-1]) > 0.9
    assert (tmp_path / 'result' / 'mlp.model').exists()
    out = run('train_mnist_custom_loop.py', '-d', device, '-u', 64, '-e', 1, '-r', 'result')
    assert float(re.search(r'test mean  loss: [\d.]+, accuracy: ([\d.]+)', out).group(1)) > 0.9


@pytest.mark.parametrize('devices', DEVICE_PAIRS)
@pytest.mark.parametrize(
    'script,out',
    [
        ('train_mnist_data_parallel_updater.py', 'result_data_parallel'),
        ('train_mnist_model_parallel.py', 'result_model_parallel'),
    ],
)
def test_parallel(run, tmp_path, script, out, devices):
    run(script, '-d', *devices, '-u', 64, '-e', 8, '-b', 32, '--seed', 0)
    log = read_log(tmp_path / out / 'log')
    assert log[-1]['validation/main/accuracy'] > 0.9
    run(script, '-d', *devices, '-u', 64, '-e', 9, '-b', 32, '-r', out + '/snapshot_iter_360')
    assert len(read_log(tmp_path / out / 'log')) == 9


@pytest.mark.parametrize('devices', DEVICE_PAIRS)
def test_data_parallel_by_hand(run, devices):
    out = run(
        'train_mnist_data_parallel.py', '-d', *devices, '-u', 64, '-e', 8, '-b', 32, '--seed', 0
    )
    assert float(re.findall(r'accuracy: ([\d.]+)', out)[-1]) > 0.9
    out = run(
        'train_mnist_data_parallel.py',
        '-d',
        *devices,
        '-u',
        64,
        '-e',
        1,
        '-b',
        32,
        '-r',
        'result_data_parallel',
    )
    assert float(re.findall(r'accuracy: ([\d.]+)', out)[0]) > 0.9


@pytest.mark.parametrize(
    'script',
    [
        'train_mnist_data_parallel.py',
        'train_mnist_data_parallel_updater.py',
        'train_mnist_model_parallel.py',
    ],
)
def test_deprecated_devices(run, script):
    assert run(script, '-g', -1, '-G', -1, '-u', 4, '-e', 1).startswith('Device: @numpy, @numpy\n')


def test_unknown_device(run):
    # The error is another one where ChainerX is not built.
    with pytest.raises(Exception, match='no_such_device'):
        run('train_mnist.py', '-d', 'no_such_device')


def test_deprecated_option(run):
    assert run('train_mnist.py', '-g', '-1', '-u', 4, '-e', 1, '--noplot').startswith(
        'Device: @numpy\n'
    )


def test_truncated_snapshot(run, tmp_path):
    (tmp_path / 'snapshot').write_bytes(b'PK\x03\x04 truncated')
    with pytest.raises(ValueError, match='snapshot'):
        run('train_mnist.py', '-u', 4, '-e', 1, '--noplot', '-r', 'snapshot')
    assert not (tmp_path / 'result').exists()
