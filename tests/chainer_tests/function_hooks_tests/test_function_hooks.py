import io
import time

import numpy
import pytest

import chainer
from chainer import function_hooks
from chainer.backends import cuda
from tests.helpers.devices import CHX


class Sleep(chainer.FunctionNode):
    def forward(self, inputs):
        time.sleep(0.002)
        return inputs

    def backward(self, indexes, grad_outputs):
        return grad_outputs


class Nested(chainer.Function):
    def forward(self, inputs):
        (y,) = Sleep().apply(inputs)
        return (y.array,)

    def backward(self, inputs, grad_outputs):
        return grad_outputs


@pytest.fixture
def x():
    return chainer.Variable(numpy.ones(3, 'f'))


class TestTimerHook:
    def test_history(self, x):
        hook = function_hooks.TimerHook()
        with hook:
            (y,) = Sleep().apply((x,))
            y.grad = y.array
            y.backward()
        (forward, seconds), (backward, _) = hook.call_history
        assert forward == backward == 'Sleep'
        assert seconds >= 0.002
        assert hook.total_time() == sum(t for _, t in hook.call_history)
        summary = hook.summary()
        assert summary['Sleep']['occurrence'] == 2
        assert summary['Sleep']['elapsed_time'] == pytest.approx(hook.total_time())

    def test_nested_time_counts_once(self, x):
        hook = function_hooks.TimerHook()
        with hook:
            Nested()(x)
        (inner, inner_time), (outer, outer_time) = hook.call_history
        assert (inner, outer) == ('Sleep', 'Nested')
        assert outer_time >= inner_time
        assert hook.total_time() == outer_time

    @pytest.mark.parametrize(
        'unit, texts',
        [
            ('sec', ('0.00sec', '2.00sec')),
            ('ms', ('0.50ms', '2000.00ms')),
            ('auto', ('0.00sec', '2.00sec')),
            ('auto_foreach', ('500.00us', '2.00sec')),
        ],
    )
    def test_report(self, unit, texts):
        hook = function_hooks.TimerHook()
        hook.call_history = [('A', 0.0005), ('LongName', 1.5), ('LongName', 0.5)]
        out = io.StringIO()
        hook.print_report(unit, out)
        heading, *rows = [line.split() for line in out.getvalue().splitlines()]
        assert heading == ['FunctionName', 'ElapsedTime', 'Occurrence']
        assert rows == [['A', texts[0], '1'], ['LongName', texts[1], '2']]

    def test_report_bad(self):
        with pytest.raises(KeyError, match='unit must be'):
            function_hooks.TimerHook().print_report('hours')

    def test_report_to_stdout(self, capsys):
        function_hooks.TimerHook().print_report()
        assert capsys.readouterr().out.split() == ['FunctionName', 'ElapsedTime', 'Occurrence']


class TestPrintHook:
    def test_print(self, x):
        out = io.StringIO()
        with function_hooks.PrintHook(file=out):
            y = x * 2
            forward = out.getvalue()
            y.grad = y.array
            y.backward()
        backward = out.getvalue()[len(forward) :]
        lines = forward.splitlines()
        assert lines[0] == 'function\t_ * 2.0' or lines[0] == 'function\t_ * 2'
        assert lines[1] == 'input data'
        assert '- shape: (3,)' in forward and 'output gradient' not in forward
        # A gradient is shown as that of a variable of zeros.
        text = backward.partition('output gradient\n')[2]
        assert '- statistics: mean=0.0' in text and '- grad: mean=2.0' in text

    @pytest.mark.chainerx
    def test_fallback_from_chainerx(self):
        out = io.StringIO()
        x = chainer.Variable(chainer.get_device(CHX[0]).send(numpy.eye(2, dtype='e')))
        with function_hooks.PrintHook(file=out):
            chainer.functions.sum(chainer.functions.cholesky(x)).backward()
        text = out.getvalue()
        assert f'- device: {CHX[0]}' in text and '- grad: mean=1.0' in text

    def test_stdout(self, x, capsys):
        with function_hooks.PrintHook(end='|\n', flush=False):
            x + x
        assert capsys.readouterr().out.startswith('function\t_ + _|\ninput data|\n')


@pytest.mark.skipif(cuda.available, reason='CUDA is available')
@pytest.mark.parametrize(
    'hook', [function_hooks.CUDAProfileHook, function_hooks.CupyMemoryProfileHook]
)
def test_no_cuda(hook):
    with pytest.raises(RuntimeError, match='CUDA environment'):
        hook()


@pytest.mark.gpu
class TestCuda:
    def test_memory_profile(self):
        cuda.cupy.get_default_memory_pool().free_all_blocks()
        x = chainer.Variable(cuda.cupy.ones(1000, 'f'))
        hook = function_hooks.CupyMemoryProfileHook()
        with hook:
            y = x + x
        del y
        ((name, used, acquired, depth),) = hook.call_history
        assert (name, depth) == ('Add', 0)
        assert used >= 4000
        assert hook.total_used_bytes() == used
        assert hook.total_acquired_bytes() == acquired
        assert hook.summary() == {
            'Add': {'used_bytes': used, 'acquired_bytes': acquired, 'occurrence': 1}
        }
        out = io.StringIO()
        hook.print_report('B', out)
        assert out.getvalue().split()[:4] == [
            'FunctionName',
            'UsedBytes',
            'AcquiredBytes',
            'Occurrence',
        ]

    def test_timer(self):
        x = chainer.Variable(cuda.cupy.ones(1000, 'f'))
        hook = function_hooks.TimerHook()
        with hook:
            x + x
        assert hook.total_time() > 0

    @pytest.mark.multi_gpu(2)
    def test_timer_of_the_gpu_of_the_arrays(self, monkeypatch):
        recorded = []

        class Event(cuda.Event):
            def record(self, stream=None):
                recorded.append(cuda.Device().id)
                super().record(stream)

        monkeypatch.setattr(cuda, 'Event', Event)
        x = chainer.Variable(cuda.to_gpu(numpy.ones(3, 'f'), 1))
        with function_hooks.TimerHook():
            chainer.functions.sum(x * x).backward()
        assert len(recorded) >= 8 and set(recorded) == {1}

    def test_profile(self):
        x = chainer.Variable(cuda.cupy.ones((), 'f'))
        with function_hooks.CUDAProfileHook():
            (x * x).backward()
        assert float(x.grad) == 2
