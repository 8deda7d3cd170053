"""The extensions that write logs, tables, progress bars and plots."""

import io
import json
import os
import re
import sys

import numpy
import pytest

import chainer
import chainer.links as L
from chainer import serializers, testing, training
from chainer.training import extensions
from chainer.training.extensions import util


@pytest.fixture
def trainer(tmp_path):
    trainer = testing.get_trainer_with_mock_updater((6, 'iteration'), iter_per_epoch=2)
    trainer.out = str(tmp_path)

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        i = trainer.updater.iteration
        chainer.report({'x': float(i), 'y': numpy.array(-i, 'f')})
        if i % 3 == 0:
            chainer.report({'rare': chainer.Variable(numpy.array(i, 'f'))})

    trainer.extend(source)
    return trainer


class TestLogReport:
    def test_log(self, trainer, tmp_path):
        report = extensions.LogReport()
        trainer.extend(report)
        trainer.run()
        with open(tmp_path / 'log') as f:
            text = f.read()
        log = json.loads(text)
        assert text == json.dumps(log, indent=4)
        assert log == report.log
        assert [list(entry) for entry in log] == [
            ['x', 'y', 'epoch', 'iteration', 'elapsed_time'],
            ['x', 'y', 'rare', 'epoch', 'iteration', 'elapsed_time'],
            ['x', 'y', 'rare', 'epoch', 'iteration', 'elapsed_time'],
        ]
        assert [entry['x'] for entry in log] == [1.5, 3.5, 5.5]
        assert [entry['y'] for entry in log] == [-1.5, -3.5, -5.5]
        assert [entry.get('rare') for entry in log] == [None, 3, 6]
        assert [(entry['epoch'], entry['iteration']) for entry in log] == [(1, 2), (2, 4), (3, 6)]
        assert [path.name for path in tmp_path.iterdir()] == ['log']

    def test_values_without_statistics(self, trainer):
        """Reports of other values than numbers do not stop a training."""
        for name, value in [('t', (1, 2, 3)), ('l', [1.0]), ('s', 'text'), ('n', None)]:
            trainer.extend(
                lambda trainer, name=name, value=value: chainer.report({name: value}),
                name=f'report {name}',
                trigger=(1, 'iteration'),
                priority=training.PRIORITY_WRITER,
            )
        report = extensions.LogReport()
        trainer.extend(report)
        trainer.extend(extensions.PrintReport(['x', 't', 's'], out=io.StringIO()))
        trainer.run()
        assert [list(entry)[:2] for entry in report.log] == [['x', 'y']] * 3
        assert not {'t', 'l', 's', 'n'}.intersection(*report.log)

    def test_options(self, trainer, tmp_path):
        trainer.extend(
            extensions.LogReport(
                keys=['x', 'unknown'],
                trigger=(4, 'iteration'),
                filename='log_{epoch}.json',
                postprocess=lambda stats: stats.update(extra=1),
            )
        )
        trainer.extend(extensions.LogReport(log_name='old_name'))
        trainer.run()
        assert sorted(path.name for path in tmp_path.iterdir()) == ['log_2.json', 'old_name']
        (entry,) = json.loads((tmp_path / 'log_2.json').read_text())
        assert entry.pop('elapsed_time') > 0
        assert entry == {'x': 2.5, 'epoch': 2, 'iteration': 4, 'extra': 1}
        with pytest.raises(TypeError):
            extensions.LogReport(file='x')

    def test_values_and_names_that_json_lacks(self, trainer, tmp_path):
        """As in Chainer 7, whose files ``json`` reads, and which reads these."""
        values = {'nan': float('nan'), 'a"b\\\n\udcff</x>': float('inf'), 'größer': -float('inf')}
        trainer.extend(lambda trainer: chainer.report(values), name='report')
        report = extensions.LogReport(keys=list(values), trigger=(6, 'iteration'))
        trainer.extend(report)
        trainer.run()
        content = (tmp_path / 'log').read_bytes()
        assert b'NaN' in content and b' Infinity' in content and b'-Infinity' in content
        (entry,) = json.loads(content.decode('ascii'))
        assert {key: repr(entry[key]) for key in values} == {
            key: repr(value) for key, value in values.items()
        }
        other = extensions.LogReport()
        serializers.npz.NpzDeserializer(serializers.npz.serialize(report)).load(other)
        assert repr(other.log) == repr(report.log)

    def test_before_training(self, trainer):
        report = extensions.LogReport()
        trainer.extend(report, call_before_training=True)
        trainer.run()
        assert [entry['iteration'] for entry in report.log] == [0, 2, 4, 6]

    def test_resume(self, trainer):
        whole = extensions.LogReport()
        trainer.extend(whole)
        targets = []
        trainer.extend(
            lambda trainer: targets.append(serializers.npz.serialize(whole)),
            name='save',
            priority=-1,
        )
        trainer.run()
        resumed = extensions.LogReport()
        resumed.serialize(serializers.NpzDeserializer(targets[2]))
        assert [entry['x'] for entry in resumed.log] == [1.5]
        trainer.observation = {'x': 4.0}
        trainer.updater.iteration, trainer.updater.epoch_detail = 4, 2
        resumed(trainer)
        assert resumed.log[1]['x'] == 3.5

    def test_call_of_a_subclass(self, trainer):
        """Subclasses that write logs of their own use attributes of the class."""

        class Lines(extensions.LogReport):
            lines = []

            def __call__(self, trainer):
                keys = self._keys
                self._summary.add({key: trainer.observation[key] for key in keys})
                if self._trigger(trainer):
                    stats = self._summary.compute_mean()
                    self._postprocess(stats)
                    self.lines.append((self._log_name, stats))
                    self._init_summary()

        trainer.extend(Lines(['x'], (1, 'epoch'), lambda stats: stats.update(z=1), log_name='name'))
        trainer.run()
        assert Lines.lines == [('name', {'x': x, 'z': 1}) for x in (1.5, 3.5, 5.5)]

    def test_file_stays_complete(self, trainer, tmp_path):
        report = extensions.LogReport(
            postprocess=lambda stats: stats.update(bad=object()) if stats['x'] > 2 else None
        )
        trainer.extend(report)
        with pytest.raises(TypeError, match='JSON'):
            trainer.run(show_loop_exception_msg=False)
        assert len(json.loads((tmp_path / 'log').read_text())) == 1
        assert [path.name for path in tmp_path.iterdir()] == ['log']


class TestPrintReport:
    def test_table(self, trainer):
        out = io.StringIO()
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.PrintReport(['epoch', 'x', 'rare', 'a_very_long_name'], out=out))
        trainer.run()
        rows = [('1', '1.5', '', ''), ('2', '3.5', '3', ''), ('3', '5.5', '6', '')]
        assert out.getvalue() == (
            'epoch       x           rare        a_very_long_name\n'
            + ''.join('\x1b[J{:<10}  {:<10}  {:<10}  {:<16}  \n'.format(*row) for row in rows)
        )

    def test_standard_output(self, trainer, capsys):
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.PrintReport(['x']))
        trainer.run()
        assert capsys.readouterr().out.startswith('x         \n')

    def test_own_log_report(self, trainer):
        out = io.StringIO()
        report = extensions.PrintReport(
            ['x'], extensions.LogReport(trigger=(3, 'iteration'), filename='other'), out
        )
        trainer.extend(report)
        trainer.run()
        assert out.getvalue().count('\n') == 3
        target = serializers.npz.serialize(report)
        assert '_log_report/_log' in target

    def test_errors(self, trainer):
        for log_report, error in ('unknown', ValueError), (3, TypeError):
            with pytest.raises(error):
                extensions.PrintReport(['x'], log_report)(trainer)


class TestProgressBar:
    @pytest.mark.parametrize(
        'length,status',
        [
            ((6, 'iteration'), '         4 iter, 2 epoch / 6 iterations\n'),
            ((4, 'epoch'), '         4 iter, 2 epoch / 4 epochs\n'),
        ],
    )
    @pytest.mark.parametrize('given', [True, False])
    def test_lines(self, trainer, length, status, given):
        out = io.StringIO()
        if not given:
            trainer.stop_trigger = training.get_trigger(length)
        trainer.extend(
            extensions.ProgressBar(
                length if given else None, update_interval=4, bar_length=10, out=out
            )
        )
        trainer.run()
        done = 4 / 6 if length[1] == 'iteration' else 0.5
        marks = '#' * int(done * 10)
        total = f'     total [{marks:.<10}] {done:6.2%}\n'
        first = out.getvalue().split('\x1b[4A')[0]
        lines = first.splitlines(keepends=True)
        assert lines[0] == '\x1b[J' + total
        assert lines[1] == 'this epoch [..........]  0.00%\n'
        assert lines[2] == status
        assert re.fullmatch(
            r' *[0-9.e+]+ iters/sec\. Estimated time to finish: 0:00:[0-9.]+\.\n', lines[3]
        )
        assert len(lines) == 4
        assert out.getvalue().endswith('\x1b[J')

    def test_unknown_speed(self, trainer, monkeypatch):
        monkeypatch.setattr(util.time, 'time', lambda: 100.0)
        out = io.StringIO()
        trainer.extend(extensions.ProgressBar(update_interval=4, out=out))
        trainer.run()
        assert '         ? iters/sec. Estimated time to finish: unknown.\n' in out.getvalue()
        assert 'inf' not in out.getvalue()

    @pytest.mark.parametrize('seconds', [0, 4, 10])
    def test_redirected_output(self, trainer, monkeypatch, tmp_path, seconds):
        now = [100.0]
        monkeypatch.setattr(util.time, 'time', lambda: now[0])

        def wait(trainer):
            now[0] += seconds

        trainer.extend(wait, trigger=(1, 'iteration'), priority=1000)
        path = tmp_path / 'log'
        with path.open('w') as out:
            trainer.extend(extensions.ProgressBar((4, 'iteration'), update_interval=1, out=out))
            trainer.run()
        text = path.read_text()
        assert '\x1b' not in text and '[' not in text
        lines = text.splitlines()
        expected = {0: [], 4: [3, 6], 10: [1, 2, 3, 4, 5, 6]}[seconds]
        for line, iteration in zip(lines, expected, strict=True):
            assert line.startswith(f'total {iteration / 4:.2%}, this epoch ')
            assert f', {iteration} iter, ' in line
            assert f'{1 / seconds:g} iters/sec. Estimated time to finish: ' in line

    def test_speed(self, monkeypatch):
        now = [100.0]
        monkeypatch.setattr(util.time, 'time', lambda: now[0])
        bar = util.ProgressBar()
        assert bar.update_speed(0, 0.0) == (float('inf'), float('inf'))
        now[0] = 102.0
        assert bar.update_speed(10, 0.5) == (5, 0.25)
        with pytest.raises(NotImplementedError):
            bar.update()

    def test_not_used(self):
        out = io.StringIO()
        extensions.ProgressBar(out=out).finalize()
        assert out.getvalue() == ''


class TestPlotReport:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        pytest.importorskip('matplotlib')

    @pytest.mark.parametrize(
        'kwargs,name',
        [
            ({}, 'plot.png'),
            ({'file_name': 'a.png'}, 'a.png'),
            ({'filename': 'a.svg', 'marker': None, 'grid': False, 'x_key': 'epoch'}, 'a.svg'),
        ],
    )
    def test_file(self, trainer, tmp_path, kwargs, name):
        trainer.extend(extensions.PlotReport(['x', 'rare', 'unknown'], **kwargs))
        pyplot_loaded = 'matplotlib.pyplot' in sys.modules
        trainer.run()
        content = (tmp_path / name).read_bytes()
        assert content[:4] == (b'\x89PNG' if name.endswith('png') else b'<?xm')
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert ('matplotlib.pyplot' in sys.modules) == pyplot_loaded

    def test_data(self, trainer):
        seen = []
        report = extensions.PlotReport(
            'x',
            trigger=(3, 'iteration'),
            postprocess=lambda figure, axes, summary: seen.append(
                (axes.lines[0].get_xydata().tolist(), summary.compute_mean()['x'])
            ),
        )
        trainer.extend(report)
        trainer.run()
        assert seen == [([[3, 2]], 2), ([[3, 2], [6, 5]], 5)]
        target = serializers.npz.serialize(report)
        resumed = extensions.PlotReport(['x', 'y'])
        resumed.serialize(serializers.NpzDeserializer(target))
        assert resumed._data == {'x': [[3, 2], [6, 5]], 'y': []}

    def test_nothing_to_plot(self, trainer, tmp_path):
        trainer.extend(extensions.PlotReport(['unknown']))
        trainer.run()
        assert list(tmp_path.iterdir()) == []

    def test_available(self, monkeypatch, trainer, tmp_path):
        assert extensions.PlotReport.available()
        assert extensions.VariableStatisticsPlot.available()
        monkeypatch.setitem(sys.modules, 'matplotlib', None)
        with pytest.warns(UserWarning, match='matplotlib is not installed'):
            assert not extensions.PlotReport.available()
        with pytest.warns(UserWarning, match='matplotlib is not installed'):
            trainer.extend(extensions.PlotReport(['x']))
        trainer.run()
        assert list(tmp_path.iterdir()) == []


class TestVariableStatisticsPlot:
    def test_file(self, trainer, tmp_path):
        pytest.importorskip('matplotlib')
        link = L.Linear(3, 2)
        link.cleargrads()
        link.W.grad = numpy.ones((2, 3), 'f')
        x = chainer.Variable(numpy.arange(4, dtype='f'))
        plot = extensions.VariableStatisticsPlot(
            [link, x], max_sample_size=3, trigger=(3, 'iteration')
        )
        trainer.extend(plot)
        trainer.run()
        assert (tmp_path / 'statistics.png').read_bytes()[:4] == b'\x89PNG'
        values = numpy.concatenate([link.W.array.ravel(), link.b.array, x.array])
        idxs, data = plot._samples['data'].get_data()
        assert data.shape == (3, 2 + 9)
        numpy.testing.assert_allclose(data[0, :2], [values.mean(), values.std()], rtol=1e-5)
        numpy.testing.assert_allclose(
            data[0, 2:], numpy.percentile(values, plot._percentile_sigmas), rtol=1e-5, atol=1e-7
        )
        other = extensions.VariableStatisticsPlot(x, max_sample_size=3)
        with chainer.using_config('exact_resume', 'always'):
            saved = serializers.npz.serialize(plot)
        other.serialize(serializers.NpzDeserializer(saved))
        numpy.testing.assert_array_equal(other._samples['data'].get_data()[1], data)
        from matplotlib import pyplot

        plot.save_plot_using_module(str(tmp_path / 'own.png'), pyplot)
        assert (tmp_path / 'own.png').exists()

    def test_errors(self):
        x = chainer.Variable(numpy.zeros(1, 'f'))
        for kwargs in (
            {'report_data': False, 'report_grad': False},
            {'plot_mean': False, 'plot_std': False, 'percentile_sigmas': ()},
        ):
            with pytest.raises(ValueError):
                extensions.VariableStatisticsPlot(x, **kwargs)
        with pytest.raises(ValueError, match='targets'):
            extensions.VariableStatisticsPlot([3])

    def test_reservoir(self):
        module = extensions.variable_statistics_plot
        counts = numpy.zeros(20)
        for _ in range(300):
            reservoir = module.Reservoir(5, (1,))
            for i in range(20):
                reservoir.add(numpy.array([i]), idx=i)
            idxs, data = reservoir.get_data()
            assert (numpy.diff(idxs) > 0).all()
            numpy.testing.assert_array_equal(data[:, 0], idxs)
            counts[idxs] += 1
        # Each is kept with the probability 1/4: 75 times, with deviation 7.5.
        assert (abs(counts - 75) < 40).all()

    def test_statistician(self):
        module = extensions.variable_statistics_plot
        x = numpy.arange(12, dtype='f').reshape(4, 3)
        out = module.Statistician(True, True, (0, 50))(x, axis=0)
        numpy.testing.assert_allclose(out['mean'], x.mean(axis=0))
        numpy.testing.assert_allclose(out['std'], x.std(axis=0))
        numpy.testing.assert_allclose(out['percentile'], [x[0], [4.5, 5.5, 6.5]])
        assert {value.dtype for value in out.values()} == {x.dtype}
        assert set(module.Statistician(False, True, ())(x)) == {'std'}


class TestParameterStatistics:
    def test_keys_and_values(self, trainer):
        link = L.Linear(3, 2)
        link.cleargrads()
        link.W.grad = numpy.ones((2, 3), 'f')
        trainer.extend(
            extensions.ParameterStatistics(link, trigger=(1, 'iteration'), prefix='model')
        )
        trainer.run()
        observation = trainer.observation
        names = {name for name in observation if name.startswith('model')}
        statistics = ['mean', 'std', 'min', 'max', 'zeros'] + [f'percentile/{i}' for i in range(7)]
        assert names == {
            f'model/None/{key}/{name}'
            for key in ('W/data', 'W/grad', 'b/data')
            for name in statistics
        }
        assert observation['model/None/W/data/mean'] == pytest.approx(link.W.array.mean())
        assert observation['model/None/W/data/percentile/3'] == pytest.approx(
            numpy.median(link.W.array)
        )
        assert observation['model/None/b/data/zeros'] == 2

    def test_options(self, trainer):
        model = chainer.Chain()
        with model.init_scope():
            model.l = L.Linear(3, 2)
        model.l.W.array[0, 0] = float('nan')
        extension = extensions.ParameterStatistics(
            [model.l],
            {'sum': numpy.sum},
            report_grads=False,
            trigger=(2, 'iteration'),
            skip_nan_params=True,
        )
        extension.register_statistics('size', lambda x: x.size)
        trainer.extend(extension)
        trainer.run()
        observation = {
            key: value for key, value in trainer.observation.items() if key.startswith('l/')
        }
        assert set(observation) == {f'l/{p}/data/{f}' for p in 'Wb' for f in ('sum', 'size')}
        assert numpy.isnan(observation['l/W/data/size'])
        assert observation['l/b/data/size'] == 2


class TestMicroAverage:
    @pytest.mark.parametrize('resume_at', [None, 2, 3])
    def test_quotient(self, resume_at):
        def new():
            return extensions.MicroAverage('n', 'd', 'q', (3, 'iteration'))

        trainer = testing.get_trainer_with_mock_updater()
        extension = new()
        assert extension.priority == training.PRIORITY_EDITOR
        results = []
        data = [(1.5, 2), (0, 4), (1.5, 4), (1, 1), (1.25, 2), (3.75, 5)]
        for i, (n, d) in enumerate(data):
            if i == resume_at:
                target = serializers.npz.serialize(extension)
                extension = new()
                extension.serialize(serializers.NpzDeserializer(target))
            trainer.updater.update()
            trainer.observation = {'n': chainer.Variable(numpy.array(n, 'f')), 'd': d}
            with trainer.reporter.scope(trainer.observation):
                extension(trainer)
            results.append(trainer.observation.get('q'))
        assert results == [None, None, pytest.approx(0.3), None, None, pytest.approx(0.75)]


def test_observe_value(trainer):
    trainer.extend(extensions.observe_value('it', lambda trainer: trainer.updater.iteration))
    optimizers = {'main': chainer.optimizers.SGD(lr=0.5), 'other': chainer.optimizers.SGD(lr=2)}
    trainer.updater.get_optimizer = optimizers.__getitem__
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.observe_lr('other', 'lr2'), trigger=(1, 'iteration'))
    log = extensions.LogReport()
    trainer.extend(log)
    trainer.run()
    assert log.log[0]['it'] == 2
    assert (log.log[0]['lr'], log.log[0]['lr2']) == (0.5, 2)


class TestFailOnNonNumber:
    @pytest.mark.parametrize(
        'value,fails', [(float('nan'), True), (float('inf'), True), (3e38, False), (1.0, False)]
    )
    def test_check(self, trainer, value, fails):
        link = L.Linear(2, 2)
        link.W.array[...] = value
        lazy = L.Linear(None, 2)
        trainer.updater.get_all_optimizers = lambda: {
            'lazy': chainer.optimizers.SGD().setup(lazy),
            'name': chainer.optimizers.SGD().setup(link),
        }
        with numpy.errstate(over='ignore'):
            if fails:
                with pytest.raises(RuntimeError, match="optimizer 'name' diverge. R.I.P.\n/W"):
                    extensions.FailOnNonNumber()(trainer)
            else:
                extensions.FailOnNonNumber()(trainer)


class TestGraphs:
    @pytest.fixture
    def graph_trainer(self, tmp_path):
        trainer = testing.get_trainer_with_mock_updater((2, 'iteration'))
        trainer.out = str(tmp_path)
        x = chainer.Variable(numpy.ones(2, 'f'), name='input')
        trainer.updater.update_core.side_effect = lambda: chainer.report(
            {'loss': chainer.functions.sum(chainer.functions.relu(x)), 'number': 1}
        )
        return trainer

    @pytest.mark.parametrize(
        'kwargs,name',
        [({}, 'cg.dot'), ({'filename': 'g.dot'}, 'g.dot'), ({'out_name': 'h.dot'}, 'h.dot')],
    )
    def test_dump(self, graph_trainer, tmp_path, kwargs, name):
        extension = extensions.dump_graph('loss', **kwargs)
        graph_trainer.extend(extension)
        assert extension.name == 'dump_graph'
        flags = []
        graph_trainer.extend(
            lambda trainer: flags.append(chainer.config.keep_graph_on_report), name='flag'
        )
        graph_trainer.run()
        text = (tmp_path / name).read_text()
        assert text.startswith('digraph graphname{') and 'ReLU' in text and 'octagon' in text
        assert flags == [False, False]
        assert not extension.trigger(graph_trainer)
        resumed = extensions.DumpGraph('loss')
        resumed.serialize(serializers.NpzDeserializer(serializers.npz.serialize(extension)))
        resumed.initialize(graph_trainer)
        assert not resumed.trigger(graph_trainer)
        assert not chainer.config.keep_graph_on_report

    def test_dump_error(self, graph_trainer):
        graph_trainer.extend(extensions.DumpGraph('number'))
        with pytest.raises(TypeError, match='root value is not a Variable'):
            graph_trainer.run(show_loop_exception_msg=False)
        assert not chainer.config.keep_graph_on_report

    def test_graphviz(self):
        module = extensions.computational_graph
        assert module.is_return_code_zero([sys.executable, '-c', ''])
        assert not module.is_return_code_zero([sys.executable, '-c', 'raise SystemExit(1)'])
        assert not module.is_return_code_zero(['/no/such/program'])
        assert module.is_graphviz_available() in (True, False)

    @pytest.mark.skipif(os.name == 'nt', reason='the program is a script of the shell')
    @pytest.mark.parametrize('works', [True, False])
    def test_image(self, graph_trainer, tmp_path, monkeypatch, works):
        """The program of Graphviz writes an image that is complete or absent."""
        folder = tmp_path / 'bin'
        folder.mkdir()
        program = folder / 'dot'
        # Called with -V, or with -Tpng SOURCE -o IMAGE.
        program.write_text(
            f'#!/bin/sh\n[ "$1" = -V ] || {"cp" if works else "test -e"} "$2" "$4"\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv('PATH', str(folder), prepend=os.pathsep)
        graph_trainer.extend(extensions.DumpGraph('loss'))
        graph_trainer.run()
        assert (tmp_path / 'cg.png').exists() == works
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {'bin', 'cg.dot', *(['cg.png'] if works else [])}

    @pytest.mark.parametrize('unchain', [False, True])
    def test_unchain(self, graph_trainer, unchain):
        graph_trainer.extend(lambda trainer: None, name='nothing')
        if unchain:
            graph_trainer.extend(extensions.unchain_variables())
        with chainer.using_config('keep_graph_on_report', True):
            graph_trainer.run()
        assert (graph_trainer.observation['loss'].creator is None) == unchain


def test_notebook_is_not_assumed():
    from chainer.training.extensions import _ipynb

    assert not _ipynb.is_notebook()
    assert re.search('print_report$', extensions.PrintReport.__module__)
