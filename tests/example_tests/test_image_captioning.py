import pytest


@pytest.mark.parametrize('rnn', ['nsteplstm', 'lstm'])
def test_train_and_predict(run_example, read_log, device, rnn):
    run_example('image_captioning/make_toy_data.py', '-n', 40)
    run_example(
        'image_captioning/train.py',
        '--features',
        'small',
        '-u',
        16,
        '-b',
        10,
        '--rnn',
        rnn,
        '--max-iters',
        20,
        '--log-iter',
        10,
        '--val-iter',
        10,
        '--snapshot-iter',
        20,
        '--max-caption-length',
        4,
        '-d',
        device,
    )
    log = read_log()
    assert log[1]['main/loss'] < log[0]['main/loss']
    assert log[1]['validation/main/perplexity'] > 1
    out = run_example(
        'image_captioning/predict.py',
        '--model',
        'result/model_20',
        '--img',
        'mscoco/val2014/0.png',
        'mscoco/val2014/1.png',
        '-d',
        device,
    )
    assert [line.split(':')[0] for line in out.splitlines()] == [
        'mscoco/val2014/0.png',
        'mscoco/val2014/1.png',
    ]


@pytest.mark.slow
def test_learns(run_example, read_log):
    run_example('image_captioning/make_toy_data.py', '-n', 200)
    run_example(
        'image_captioning/train.py',
        '--features',
        'small',
        '-u',
        32,
        '-b',
        20,
        '--max-iters',
        200,
        '--log-iter',
        50,
        '--val-iter',
        50,
        '--dropout-ratio',
        0.1,
    )
    log = read_log()
    # Without a seed; most often it is 1.4.
    assert log[-1]['validation/main/perplexity'] < 1.8
