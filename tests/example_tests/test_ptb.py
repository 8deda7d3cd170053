import glob
import re

OPTIONS = ('--test', '-u', 32, '-l', 10, '-b', 5, '-d')


def test_train_resume_and_generate(run_example, read_log, device):
    out = run_example('ptb/train_ptb.py', *OPTIONS, device, '-e', 2)
    perplexity = float(re.search('test perplexity: (.*)', out).group(1))
    assert perplexity < 14  # at first 31, the number of words
    log = read_log()
    assert log[-1]['perplexity'] < log[0]['perplexity']

    (snapshot,) = glob.glob('result/snapshot_iter_*1')
    run_example('ptb/train_ptb.py', *OPTIONS, device, '-e', 2, '-r', snapshot)
    out = run_example(
        'ptb/gentxt.py',
        '-m',
        'result/model.npz',
        '--test',
        '-u',
        32,
        '-p',
        'the old',
        '--length',
        5,
        '-d',
        device,
    )
    assert out.startswith('the old ') and len(out.replace('\n', ' x ').split()) >= 7


def test_custom_loop(run_example, device, tmp_path):
    (tmp_path / 'text').write_text('so it goes on and on\n' * 50)
    out = run_example(
        'ptb/train_ptb_custom_loop.py',
        '--text',
        'text',
        *OPTIONS[1:],
        device,
        '-e',
        12,
        '-o',
        'out',
    )
    first, *_, last = map(float, re.findall('training perplexity: (.*)', out))
    assert last < first < 10
    assert (tmp_path / 'out' / 'rnnlm.model').exists()
