"""Compiled examples train as eager ones do: the same parameters after every step, to the last bit."""

import gc
import random
import zlib

import numpy
import pytest

import chainer
import chainerx
from chainer.compilation._budget import FORMS_AT_ONCE
from chainer.training.updaters import StandardUpdater
from tests.example_tests.test_same_losses import SAMPLES

DEVICE = 'native:0'
MANY = '-e', 10_000
#: Why steps run eagerly, unless the lengths of their sequences come again.
NEW_SHAPES = 'arguments are new in shape or value'
#: Examples with the updater that has the option, and why their steps run eagerly, if they do.
CASES = {
    'mnist/train_mnist.py': (('-u', 32, '-b', 64), None),
    'glance/glance.py': ((), None),
    'vae/train_vae.py': (('--test', '-z', 3, '--dim-h', 30, '-b', 20), None),
    'text_classification/train_text_classifier.py': (
        ('--dataset', 'toy', '-u', 12, '-b', 16, '--model', 'rnn'),
        NEW_SHAPES,  # the lengths of texts
    ),
    'word2vec/train_word2vec.py': (('--test', '-u', 10, '-b', 50, '-t', 'original'), None),
    'memnn/train_memnn.py': (('toy/train.txt', 'toy/test.txt', '-b', 20), None),
    'pos/train_pos.py': (('--test', '-b', 10), 'the value of an array is read'),
    'seq2seq/seq2seq.py': (
        (
            *(
                f'toy/{part}.txt'
                for part in ('train_source', 'train_target', 'source_vocab', 'target_vocab')
            ),
            *('-u', 16, '-l', 2, '-b', 10),
        ),
        NEW_SHAPES,  # the lengths of sentences
    ),
    'cifar/train_cifar.py': (('--dataset', 'digits', '-u', 2, '--test', '-b', 20), None),
    'image_captioning/train.py': (('--features', 'small', '-u', 16, '-b', 10), None),
}


@pytest.fixture(autouse=True)
def without_callbacks_of_collections():
    """Those of the test runner would be effects of the step in which the collector starts."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


class Enough(Exception):
    """As many steps as are wanted were taken."""


def train(monkeypatch, run_example, n, is_compiled, script, options):
    """Runs an example for some steps; returns what its parameters were, and the updater."""
    states = []
    create, update = StandardUpdater.__init__, StandardUpdater.update

    def create_compiled(self, *args, **kwargs):
        create(self, *args, **kwargs, compile=is_compiled)

    def update_and_note(self):
        update(self)
        state = 0
        for optimizer in self.get_all_optimizers().values():
            for param in optimizer.target.params():
                if param.array is not None:
                    state = zlib.crc32(chainerx.to_numpy(param.array).tobytes(), state)
        states.append(state)
        if len(states) == n:
            updaters.append(self)
            raise Enough

    updaters = []
    random.seed(0)
    numpy.random.seed(0)
    chainerx.random.seed(0)
    with monkeypatch.context() as patch:
        patch.setattr(StandardUpdater, '__init__', create_compiled)
        patch.setattr(StandardUpdater, 'update', update_and_note)
        with pytest.raises(Enough):
            run_example(script, *options, '-d', DEVICE)
    return states, updaters[0]


def check(monkeypatch, run_example, script, n):
    options, reason = CASES[script]
    for sample in SAMPLES.get(script.split('/')[0], []):
        run_example(*sample)
    if 'image_captioning' in script:
        options = (*options, '--max-iters', 10_000)
    else:
        options = (*options, *MANY)
    usual, _ = train(monkeypatch, run_example, n, False, script, options)
    compiled, updater = train(monkeypatch, run_example, n, True, script, options)
    assert len(set(usual)) > n / 2  # it trains
    assert compiled == usual
    report = updater._update.report()
    print(script, report)
    if reason is None:
        assert updater._update.replays > n / 2, report
    elif reason is NEW_SHAPES and n < FORMS_AT_ONCE:
        assert updater._update.recordings > n / 2, report
    else:
        assert reason in report


@pytest.mark.chainerx
@pytest.mark.parametrize('script', CASES)
def test_30_steps(run_example, monkeypatch, script):
    check(monkeypatch, run_example, script, 30)


@pytest.mark.slow
@pytest.mark.chainerx
@pytest.mark.parametrize('script', CASES)
def test_400_steps(run_example, monkeypatch, script):
    """After more forms than are recorded at once."""
    with chainer.using_config('dtype', chainer.config.dtype):
        check(monkeypatch, run_example, script, 400)
