import threading

import numpy
import pytest

import chainer
from chainer import serializers
from tests.helpers.devices import CHX


class TestReporter:
    def test_names(self):
        reporter = chainer.Reporter()
        a, b, c = object(), object(), object()
        reporter.add_observer('a', a)
        reporter.add_observers('p', [('/b', b), ('/c', c)])
        reporter.report({'x': 1})
        reporter.report({'x': 2}, a)
        reporter.report({'x': 3, 'y': 4}, c)
        assert reporter.observation == {'x': 1, 'a/x': 2, 'p/c/x': 3, 'p/c/y': 4}

    def test_unknown_observer(self):
        reporter = chainer.Reporter()
        with pytest.raises(KeyError, match='not registered'):
            reporter.report({'x': 1}, object())
        assert reporter.observation == {}

    def test_current(self):
        outer, inner = chainer.Reporter(), chainer.Reporter()
        chainer.report({'lost': 1})
        with outer:
            assert chainer.get_current_reporter() is outer
            with inner:
                chainer.report({'x': 1})
            chainer.report({'y': 2})
        assert outer.observation == {'y': 2}
        assert inner.observation == {'x': 1}
        with pytest.raises(IndexError):
            chainer.get_current_reporter()

    def test_scope(self):
        reporter = chainer.Reporter()
        first, second = {}, {}
        with reporter.scope(first):
            chainer.report({'x': 1})
            with chainer.report_scope(second):
                chainer.report({'y': 2})
            chainer.report({'z': 3})
        assert first == {'x': 1, 'z': 3}
        assert second == {'y': 2}
        assert reporter.observation == {}

    def test_scope_ends_on_error(self):
        reporter = chainer.Reporter()
        with pytest.raises(ZeroDivisionError):
            with reporter.scope({}), chainer.report_scope({}):
                raise ZeroDivisionError
        assert reporter.observation == {}

    def test_threads_are_independent(self):
        seen = []
        with chainer.Reporter() as reporter:
            thread = threading.Thread(target=lambda: seen.append(chainer.report({'x': 1})))
            thread.start()
            thread.join()
        assert seen == [None]
        assert reporter.observation == {}

    @pytest.mark.parametrize('keep', [False, True])
    def test_graph(self, keep):
        x = chainer.Variable(numpy.ones(2, 'f'))
        y = x * 2
        with chainer.using_config('keep_graph_on_report', keep), chainer.Reporter() as reporter:
            chainer.report({'y': y})
        reported = reporter.observation['y']
        assert isinstance(reported, chainer.Variable)
        assert reported.array is y.array
        assert (reported.creator is not None) == keep
        assert y.creator is not None


class TestSummary:
    @pytest.mark.parametrize(
        'make', [float, numpy.float32, lambda v: numpy.array(v, 'f'), lambda v: numpy.array(v, 'd')]
    )
    def test_scalars(self, make):
        values = [1.5, -2.25, 3.0]
        summary = chainer.reporter.Summary()
        for value in values:
            summary.add(make(value))
        mean, std = summary.make_statistics()
        assert summary.compute_mean() == mean == pytest.approx(numpy.mean(values))
        assert std == pytest.approx(numpy.std(values))

    def test_weights(self):
        summary = chainer.reporter.Summary()
        summary.add(1.0, 3)
        summary.add(5.0, weight=1)
        assert summary.compute_mean() == 2.0
        assert summary.make_statistics() == (2.0, pytest.approx(3**0.5))

    def test_float32_is_summed_in_double(self):
        summary = chainer.reporter.Summary()
        for _ in range(1000):
            summary.add(numpy.float32(0.1))
        assert summary.compute_mean() == pytest.approx(float(numpy.float32(0.1)), rel=1e-12)
        kind = numpy.float64 if numpy.__version__.startswith('1.') else float
        assert type(summary.compute_mean()) is kind

    def test_arrays(self):
        x = numpy.arange(6, dtype='f').reshape(3, 2)
        summary = chainer.reporter.Summary()
        for row in x:
            summary.add(row)
        row[...] = 100
        mean, std = summary.make_statistics()
        assert mean.dtype == std.dtype == numpy.float32
        numpy.testing.assert_allclose(mean, [2, 3])
        numpy.testing.assert_allclose(std, [(8 / 3) ** 0.5] * 2, rtol=1e-6)

    @pytest.mark.chainerx
    def test_chainerx(self):
        x = chainer.get_device(CHX[0]).send(numpy.array(2, 'f')).require_grad()
        summary = chainer.reporter.Summary()
        summary.add(x * 2)
        summary.add(x)
        mean, std = summary.make_statistics()
        assert (float(mean), float(std)) == (3.0, 1.0)

    def test_constant_has_no_deviation(self):
        summary = chainer.reporter.Summary()
        for _ in range(3):
            summary.add(0.1)
        assert summary.make_statistics()[1] == pytest.approx(0, abs=1e-8)

    def test_serialize(self):
        summary = chainer.reporter.Summary()
        summary.add(1.0)
        summary.add(2.5, weight=0.5)
        target = serializers.npz.serialize(summary)
        assert set(target) == {'_x', '_x2', '_n'}
        loaded = chainer.reporter.Summary()
        loaded.serialize(serializers.NpzDeserializer(target))
        loaded.add(6.0)
        assert loaded.compute_mean() == 3.3

    def test_serialize_missing(self):
        with pytest.warns(UserWarning, match='statistics are not saved'):
            chainer.reporter.Summary().serialize(serializers.NpzDeserializer({}))


class TestDictSummary:
    def test_mean(self):
        summary = chainer.DictSummary()
        summary.add({'a': 1, 'b': numpy.array(2.0, 'f'), 'text': 'x', 'array': numpy.ones(2)})
        summary.add({'a': 3, 'v': chainer.Variable(numpy.array(5.0, 'f'))})
        assert summary.compute_mean() == {'a': 2, 'b': 2, 'v': 5}
        assert summary.make_statistics() == {
            'a': 2,
            'a.std': 1,
            'b': 2,
            'b.std': 0,
            'v': 5,
            'v.std': 0,
        }

    @pytest.mark.parametrize('value', [(1, 2, 3), (), (1,), [1, 2], None, {}, numpy.ones(1), 'x'])
    def test_values_without_statistics(self, value):
        summary = chainer.DictSummary()
        summary.add({'a': value, 'b': 1})
        assert summary.make_statistics() == {'b': 1, 'b.std': 0}

    def test_weights(self):
        summary = chainer.DictSummary()
        summary.add({'a': (1.0, 3), 'b': 1})
        summary.add({'a': (5.0, numpy.array(1))})
        assert summary.compute_mean() == {'a': 2, 'b': 1}
        with pytest.raises(ValueError, match='weight to a was not scalar'):
            summary.add({'a': (1.0, numpy.ones(2))})

    def test_serialize(self):
        summary = chainer.DictSummary()
        summary.add({'a': 1.0, 'b/c': 2.0})
        target = serializers.npz.serialize(summary)
        loaded = chainer.DictSummary()
        loaded.add({'gone': 1.0})
        loaded.serialize(serializers.NpzDeserializer(target))
        loaded.add({'a': 3.0})
        assert loaded.compute_mean() == {'a': 2, 'b/c': 2}

    def test_serialize_missing(self):
        summary = chainer.DictSummary()
        summary.add({'a': 1})
        with pytest.warns(UserWarning, match='names of statistics are not saved'):
            summary.serialize(serializers.NpzDeserializer({}))
        assert summary.compute_mean() == {'a': 1}
