import wave

import pytest

MODEL = ('--n_loop', 1, '--n_layer', 3, '--r_channels', 4, '--s_channels', 8, '--a_channels', 16)


@pytest.mark.parametrize('options', [('--process', 0), ('--process', 1, '--use_embed_tanh')])
def test_train_and_generate(run_example, read_log, tmp_path, device, options):
    run_example('wavenet/make_toy_data.py', '-n', 9, '-s', 0.1)
    run_example(
        'wavenet/train.py',
        '-i',
        'toy',
        '-l',
        512,
        '-b',
        2,
        '-e',
        8,
        '-d',
        device,
        '--display_interval',
        8,
        '--snapshot_interval',
        32,
        *MODEL,
        *options,
    )
    log = read_log()
    assert log[-1]['main/loss'] < log[0]['main/loss']
    out = run_example(
        'wavenet/generate.py',
        '-i',
        'toy/melody001.wav',
        '-m',
        'result/model_iter_32',
        '-l',
        256,
        '-d',
        device,
        *MODEL,
        *options[2:],
    )
    assert '256 samples' in out
    with wave.open(str(tmp_path / 'result.wav')) as f:
        assert f.getnframes() == 256


def test_no_sounds(run_example, capsys):
    with pytest.raises(SystemExit):
        run_example('wavenet/train.py', '-i', 'nowhere')
    assert 'two sound files or more are needed below nowhere' in capsys.readouterr().err
