"""Tests of FallbackReport and of the option ``chainerx_fallback``."""

import io
import threading

import numpy as np
import pytest
from helpers.programs import run_python

import chainer
import chainer.functions as F
import chainerx
from chainer._core.reports import fallback_report
from chainer.warnings import PerformanceWarning
from tests.helpers.devices import CHX

pytestmark = pytest.mark.chainerx


class Double(chainer.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, gys):
        return (gys[0] * 2,)


class Half(Double):
    """Has a native path for vectors only."""

    def forward(self, inputs):
        return (inputs[0] / 2,)

    def forward_chainerx(self, inputs):
        return (inputs[0] / 2,) if inputs[0].ndim == 1 else chainer.Fallback


class OldDouble(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, inputs, gys):
        return (gys[0] * 2,)


def _x(*shape):
    return chainer.Variable(chainerx.array(np.ones(shape, np.float32), device=CHX[0]))


def test_counts():
    x = _x(2, 3)
    with chainer.FallbackReport() as report:
        F.sum(Double().apply((x,))[0] + Double().apply((x * 2,))[0]).backward()
        Half().apply((_x(3),))
        Half().apply((x,))
        OldDouble()(x)
    Double().apply((x,))
    summary = report.summary()
    assert {name: (r['reason'], r['forward'], r['backward']) for name, r in summary.items()} == {
        'Double': ('no native path', 2, 2),
        'Half': ('arguments not supported', 1, 0),
        'OldDouble': ('no native path', 1, 0),
    }
    assert summary['Double']['forward_time'] > 0 and summary['Double']['backward_time'] > 0
    assert summary['Half']['backward_time'] == 0
    summary['Double']['forward'] = 100
    assert report.summary()['Double']['forward'] == 2


def test_print():
    with chainer.FallbackReport() as report:
        F.sum(Double().apply((_x(3),))[0]).backward()
        Half().apply((_x(),))
    out = io.StringIO()
    report.print_report(out)
    lines = out.getvalue().splitlines()
    assert lines[0].split() == ['Function', 'Reason', 'Forward', 'Seconds', 'Backward', 'Seconds']
    assert sorted(line.split()[0] for line in lines[1:]) == ['Double', 'Half']
    assert 'arguments not supported' in out.getvalue()
    assert len({len(line) for line in lines}) == 1


def test_prints_to_standard_output(capsys):
    chainer.FallbackReport().print_report()
    assert capsys.readouterr().out.startswith('Function')


def test_empty_for_native_functions_and_numpy():
    with chainer.FallbackReport() as report:
        F.relu(_x(3))
        Double().apply((np.ones(3, np.float32),))
    assert report.summary() == {}


def test_nested_and_reused():
    outer, inner = chainer.FallbackReport(), chainer.FallbackReport()
    for _ in range(2):
        with outer, inner:
            Double().apply((_x(1),))
    with outer:
        Double().apply((_x(1),))
        with pytest.raises(RuntimeError, match='active'):
            outer.__enter__()
    assert outer.summary()['Double']['forward'] == 3
    assert inner.summary()['Double']['forward'] == 2
    assert not fallback_report._reports


def test_sees_other_threads():
    with chainer.FallbackReport() as report:
        thread = threading.Thread(target=lambda: Double().apply((_x(1),)))
        thread.start()
        thread.join()
    assert report.summary()['Double']['forward'] == 1


def test_failed_call_is_not_counted():
    class Bad(Double):
        def forward(self, inputs):
            raise KeyError

    with chainer.FallbackReport() as report:
        with pytest.raises(KeyError):
            Bad().apply((_x(1),))
    assert report.summary() == {} and not fallback_report._reports


def test_raise():
    with chainer.using_config('chainerx_fallback', 'raise'):
        with pytest.raises(
            RuntimeError, match=r'Double fell back .*no native path.*float32\[2, 3\]'
        ):
            Double().apply((_x(2, 3),))
        Half().apply((_x(3),))
        with pytest.raises(RuntimeError, match='Half fell back .*arguments not supported'):
            Half().apply((_x(),))
    Double().apply((_x(3),))


def test_warn(monkeypatch):
    monkeypatch.setattr(fallback_report, '_warned', set())
    with chainer.using_config('chainerx_fallback', 'warn'):
        with pytest.warns(PerformanceWarning, match='Double fell back') as record:
            Double().apply((_x(3),))
            Double().apply((_x(3),))
    assert len(record) == 1


def test_bad_mode():
    with chainer.using_config('chainerx_fallback', 'sometimes'):
        with pytest.raises(ValueError, match='sometimes'):
            Double().apply((_x(3),))


@pytest.mark.slow
def test_environment():
    code = """
        import numpy as np, chainer, chainerx
        class Double(chainer.FunctionNode):
            def forward(self, inputs):
                return inputs[0] * 2,
        Double().apply((chainerx.array(np.ones(3)),))
    """
    for mode, part in (
        ('report', 'Double    no native path'),
        ('raise', 'RuntimeError: Double'),
        ('warn', 'PerformanceWarning: Double'),
        ('silent', ''),
    ):
        result = run_python(code, status=int(mode == 'raise'), CHAINERX_FALLBACK=mode)
        assert part in result.stderr and (part or not result.stderr)
