import re

import numpy
import pytest

import chainer
from chainer import dataset, iterators, training
from chainer.training import extensions


class Target(chainer.Chain):
    def __init__(self):
        super().__init__()
        self.calls = []
        with self.init_scope():
            self.child = chainer.Chain()

    def forward(self, *args, **kwargs):
        x = args[0] if args else kwargs['x']
        self.calls.append((args, kwargs, chainer.config.train, chainer.config.enable_backprop))
        chainer.report({'loss': x.sum()}, self)
        chainer.report({'value': 1}, self.child)


DATA = [numpy.array([i], 'f') for i in range(5)]


def make_iterator(data=DATA, **kwargs):
    return iterators.SerialIterator(data, 2, repeat=False, shuffle=False, **kwargs)


class TestEvaluator:
    def test_result(self):
        target = Target()
        evaluator = extensions.Evaluator(make_iterator(), target)
        for _ in range(2):  # the iterator is reset
            result = evaluator()
            assert result == {'main/loss': pytest.approx((1 + 5 + 4) / 3), 'main/child/value': 1}
        assert all(call[2:] == (False, False) for call in target.calls)
        assert len(target.calls) == 6

    def test_in_trainer(self, tmp_path):
        from chainer import testing

        trainer = testing.get_trainer_with_mock_updater((2, 'iteration'), iter_per_epoch=1)
        trainer.out = str(tmp_path)
        trainer.extend(extensions.Evaluator(make_iterator(), Target()))
        trainer.extend(extensions.Evaluator(make_iterator(), Target()), name='test')
        trainer.run()
        assert set(trainer.observation) == {
            'validation/main/loss',
            'validation/main/child/value',
            'test/main/loss',
            'test/main/child/value',
        }

    @pytest.mark.parametrize(
        'data,check',
        [
            (list(zip(DATA, DATA)), lambda args, kwargs: len(args) == 2 and not kwargs),
            ([{'x': x} for x in DATA], lambda args, kwargs: not args and list(kwargs) == ['x']),
            (DATA, lambda args, kwargs: len(args) == 1 and not kwargs),
        ],
    )
    def test_arguments(self, data, check):
        target = Target()
        extensions.Evaluator(make_iterator(data), target)()
        assert all(check(*call[:2]) for call in target.calls)

    def test_options(self):
        hooked = []
        target = Target()
        devices = []

        def convert(batch, device):
            devices.append(device)
            return dataset.concat_examples(batch, device)

        evaluator = extensions.Evaluator(
            {'main': make_iterator()},
            {'main': target},
            converter=convert,
            device='@numpy',
            eval_hook=hooked.append,
            eval_func=lambda x: target(x * 2),
        )
        assert evaluator()['main/loss'] == pytest.approx(20 / 3)
        assert hooked == [evaluator]
        assert devices == [-1] * 3
        assert evaluator.device == chainer.get_device('@numpy')
        assert evaluator.get_target('main') is target
        assert evaluator.get_all_targets() == {'main': target}
        assert list(evaluator.get_all_iterators()) == ['main']
        assert evaluator.get_iterator('main') is evaluator.get_all_iterators()['main']

    def test_attributes(self):
        evaluator = extensions.Evaluator(make_iterator(), Target())
        assert (evaluator.trigger, evaluator.priority, evaluator.default_name) == (
            (1, 'epoch'),
            training.PRIORITY_WRITER,
            'validation',
        )

    def test_override(self):
        class Own(extensions.Evaluator):
            def evaluate(self):
                with chainer.report_scope({}):
                    return {'own': 3}

        with chainer.Reporter() as reporter:
            assert Own(make_iterator(), Target())() == {'own': 3}
        assert reporter.observation == {'own': 3}

    def test_repeating_iterator(self):
        with pytest.warns(UserWarning, match='iterator main is set to `True`'):
            extensions.Evaluator(iterators.SerialIterator(DATA, 2), Target())

    def test_iterator_without_reset(self):
        class Iterator(dataset.Iterator):
            dataset = DATA

            def __init__(self):
                self.left = 2

            def __next__(self):
                if self.left == 0:
                    raise StopIteration
                self.left -= 1
                return DATA[:1]

        evaluator = extensions.Evaluator(Iterator(), Target())
        for _ in range(2):
            with pytest.warns(DeprecationWarning, match='reset method'):
                assert evaluator()['main/loss'] == 0

    def test_progress_bar(self, capsys):
        extensions.Evaluator(make_iterator(), Target(), progress_bar=True)()
        out = capsys.readouterr().out
        assert re.findall(r'validation \[#*\.*\] *([\d.]+)%', out) == ['40.00', '80.00', '100.00']
        assert '         4 / 5 iterations\n' in out
        assert out.endswith('\x1b[J')
        with pytest.raises(TypeError, match='progress'):
            extensions.Evaluator(make_iterator(), Target(), progress=True)

    def test_empty(self):
        assert extensions.Evaluator(make_iterator([]), Target())() == {}

    def test_finalize(self):
        iterator = make_iterator()
        finalized = []
        iterator.finalize = lambda: finalized.append(1)
        extensions.Evaluator(iterator, Target()).finalize()
        assert finalized[:1] == [1]
