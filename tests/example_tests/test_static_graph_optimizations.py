import numpy
import pytest

FOLDER = 'static_graph_optimizations/'


@pytest.mark.parametrize(
    ('script', 'options'),
    [
        (
            'cifar/train_cifar.py',
            ('--dataset', 'digits', '--test', '-e', 1, '-u', 2, '--model', 'resnet50'),
        ),
        ('mnist/train_mnist.py', ('-e', 1, '-u', 10)),
    ],
)
def test_train(run_example, read_log, device, script, options):
    """The logs are those without static graphs."""
    losses = []
    for folder, out in (FOLDER, 'static'), ('', 'dynamic'):
        numpy.random.seed(0)
        run_example(folder + script, *options, '-o', out, '-d', device)
        losses.append(read_log(out)[-1]['main/loss'])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_ptb(run_example, device):
    outs = []
    for folder in FOLDER, '':
        numpy.random.seed(0)
        outs.append(
            run_example(
                folder + 'ptb/train_ptb_custom_loop.py', '--test', '-e', 1, '-u', 8, '-d', device
            )
        )
    perplexities = [
        [float(line.split()[-1]) for line in out.splitlines() if 'perplexity' in line]
        for out in outs
    ]
    assert len(perplexities[0]) == 3
    assert perplexities[0] == pytest.approx(perplexities[1], rel=1e-4)
