"""The examples learn, on two ranks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import mpi

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        bool(mpi.reason_to_skip()) or mpi.mpiexec() is None,
        reason=mpi.reason_to_skip() or 'needs mpiexec',
    ),
]


@pytest.fixture
def python(tmp_path):
    """Function that runs Python in a temporary folder; returns what it prints."""

    def run(*arguments):
        result = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=250,
            cwd=tmp_path,
            env=mpi._environment({}),
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.fixture
def run(python, tmp_path):
    """Function that runs an example; returns the entries of the log and what it prints."""

    def run(script, *options):
        script = EXAMPLES / 'chainermn' / script
        printed = python('-m', 'chainermn.run', '-n', 2, script, *options)
        return json.loads((tmp_path / 'result' / 'log').read_text()), printed

    return run


def test_mnist(run):
    options = '--dtype', 'bfloat16', '--sharded'
    log, _ = run('mnist/train_mnist.py', '-e', '5', *options)
    assert len(log) == 5 and log[-1]['validation/main/accuracy'] > 0.7
    # Started again, it goes on.
    log, printed = run('mnist/train_mnist.py', '-e', '7', *options)
    assert [entry['epoch'] for entry in log] == [1, 2, 3, 4, 5, 6, 7]
    assert log[-1]['validation/main/accuracy'] > 0.75
    assert '[0]' in printed and '[1]' not in printed


def test_mnist_model_parallel(run):
    log, _ = run('mnist/train_mnist_model_parallel.py', '-e', '8')
    assert log[-1]['main/accuracy'] > 0.85


def test_imagenet(python, run):
    python(EXAMPLES / 'imagenet/make_toy_data.py', '--size', 84, '-n', 20)
    python(EXAMPLES / 'imagenet/compute_mean.py', 'toy/train.txt', '--root', 'toy')
    options = ['toy/train.txt', 'toy/val.txt', '-R', 'toy', '--classes', 10, '--insize', 80]
    options += ['-a', 'googlenetbn', '-j', 1, '-b', 5, '-V', 2, '--test']
    log, printed = run('imagenet/train_imagenet.py', *options, '-e', 1)
    assert [entry['iteration'] for entry in log] == [1, 2]  # of 20 images, 5 for each process
    assert 0 <= log[-1]['validation/main/accuracy'] <= 1
    assert '[1]' not in printed
    log, _ = run('imagenet/train_imagenet.py', *options, '-e', 2, '-r', 'result/snapshot_iter_2')
    assert [entry['iteration'] for entry in log] == [1, 2, 3, 4]


def test_seq2seq(python, run, tmp_path):
    python(EXAMPLES / 'seq2seq/make_toy_data.py', '-n', 400, '-l', 3)
    files = ['train_source', 'train_target', 'source_vocab', 'target_vocab']
    log, printed = run(
        'seq2seq/seq2seq.py',
        *[f'toy/{name}.txt' for name in files],
        *('--validation-source', 'toy/validation_source.txt'),
        *('--validation-target', 'toy/validation_target.txt'),
        *('--unit', 64, '--layer', 1, '-b', 20, '-e', 12),
        *('--log-interval', 20, '--validation-interval', 20, '--save', 'model'),
    )
    assert [entry['iteration'] for entry in log] == list(range(20, 121, 20))
    assert log[-1]['main/loss'] < log[0]['main/loss'] * 0.9
    assert all([0 <= entry['validation/main/bleu'] <= 1 for entry in log])
    assert '[1]' not in printed and (tmp_path / 'model').exists()


def test_dcgan(run, tmp_path):
    log, printed = run(
        'dcgan/train_dcgan.py',
        *('-i', 'digits', '--unit', 16, '-b', 100, '-e', 1),
        *('--snapshot_interval', 4, '--display_interval', 4),
    )
    assert [entry['iteration'] for entry in log] == [4, 8]
    # So few iterations need not improve either network.
    assert all([0 < entry[name] < 3 for entry in log for name in ('gen/loss', 'dis/loss')])
    assert (tmp_path / 'result/preview/image00000008.png').exists()
    assert '[1]' not in printed


def test_parallel_convolution(run):
    log, _ = run(
        'parallel_convolution/train_cifar.py',
        *('--dataset', 'digits', '--test', '--unit', 4, '-e', 4),
    )
    assert log[-1]['validation/main/accuracy'] > 0.25  # 0.1 without training


def test_parallel_convolution_has_the_gradients_of_one_process():
    mpi.run_ranks(
        2,
        f"""
        import sys

        import numpy

        import chainermn

        sys.path.insert(0, {str(EXAMPLES / 'chainermn' / 'parallel_convolution')!r})
        import train_cifar

        numpy.random.seed(0)
        comm = chainermn.create_communicator('naive')
        x = numpy.random.rand(3, 3, 32, 32).astype(numpy.float32)
        t = numpy.array([3, 1, 4])
        model = train_cifar.make_model(comm, 3, 10)
        alone = train_cifar.make_model(comm.split(comm.rank, 0), 3, 10)
        alone.copyparams(model)
        losses = [m(x, t) for m in (model, alone)]
        numpy.testing.assert_allclose(losses[0].array, losses[1].array, rtol=1e-6)
        for m, loss in zip((model, alone), losses):
            m.cleargrads()
            loss.backward()
        comm.multi_node_mean_grad(model)
        for (name, p), (_, q) in zip(model.namedparams(), alone.namedparams()):
            assert q.grad is not None and q.grad.any(), name
            numpy.testing.assert_allclose(p.grad, q.grad, rtol=1e-4, atol=5e-6, err_msg=name)
        """,
    )
