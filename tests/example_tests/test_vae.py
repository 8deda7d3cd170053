import pytest

OPTIONS = ('--test', '-z', 3, '--dim-h', 30, '-b', 20)


@pytest.mark.parametrize('options', [(), ('--binary', '-k', 2, '--beta', 0.5)])
def test_train(run_example, read_log, tmp_path, device, options):
    run_example('vae/train_vae.py', *OPTIONS, '-e', 5, '-d', device, *options)
    log = read_log('results')
    assert log[-1]['validation/main/loss'] < log[0]['validation/main/loss']
    for name in 'test.png', 'test_reconstructed.png', 'sampled.png':
        assert (tmp_path / 'results' / name).exists()


def test_resume_and_initmodel(run_example, read_log):
    run_example('vae/train_vae.py', *OPTIONS, '-e', 1)
    run_example('vae/train_vae.py', *OPTIONS, '-e', 2, '-r', 'results/snapshot_iter_10')
    assert [entry['epoch'] for entry in read_log('results')] == [1, 2]
    run_example('vae/train_vae.py', *OPTIONS, '-e', 1, '-m', 'results/model_epoch_2')
