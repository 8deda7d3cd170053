import pytest

DATA = (
    'toy/train.txt',
    'toy/val.txt',
    '-R',
    'toy',
    '--classes',
    10,
    '--insize',
    80,
    '-j',
    1,
    '-b',
    2,
    '-V',
    2,
    '-e',
    1,
    '--test',
)


@pytest.fixture
def data(run_example):
    run_example('imagenet/make_toy_data.py', '--size', 84, '-n', 2)
    run_example('imagenet/compute_mean.py', 'toy/train.txt', '--root', 'toy')


@pytest.mark.slow
@pytest.mark.parametrize(
    'arch', ['alex', 'googlenet', 'googlenetbn', 'nin', 'resnet50', 'resnext50']
)
def test_train(run_example, read_log, data, device, arch):
    run_example('imagenet/train_imagenet.py', *DATA, '-a', arch, '-d', device)
    log = read_log()
    assert [entry['iteration'] for entry in log] == [1]
    assert 0 < log[0]['main/loss'] < 100
    assert 0 <= log[0]['validation/main/accuracy'] <= 1


@pytest.mark.slow
def test_resume_and_initmodel(run_example, read_log, data):
    options = *DATA, '-a', 'nin', '--dtype', 'float64'
    run_example('imagenet/train_imagenet.py', *options)
    run_example('imagenet/train_imagenet.py', *options, '-e', 2, '-r', 'result/snapshot_iter_1')
    assert [entry['iteration'] for entry in read_log()] == [1, 2]
    out = run_example('imagenet/train_imagenet.py', *options, '--initmodel', 'result/model_iter_2')
    assert 'Load model from' in out


@pytest.mark.slow
@pytest.mark.parametrize(
    'devices',
    [('@numpy', '@numpy'), pytest.param(('native:0', 'native:1'), marks=pytest.mark.chainerx)],
)
def test_data_parallel(run_example, read_log, data, devices):
    run_example('imagenet/train_imagenet_data_parallel.py', *DATA, '-a', 'nin', '-d', *devices)
    assert len(read_log()) == 1
