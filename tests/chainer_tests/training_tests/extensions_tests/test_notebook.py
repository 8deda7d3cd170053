"""The extensions that notebooks show as widgets, and as text where widgets are not installed."""

import builtins
import io
import os
import subprocess
import sys
import types

import numpy
import pytest

import chainer
from chainer import testing, training
from chainer.training.extensions import LogReport, print_report_notebook, progress_bar_notebook

LIBRARIES = ['ipywidgets', 'IPython', 'pandas']


@pytest.fixture
def trainer(tmp_path):
    trainer = testing.get_trainer_with_mock_updater((4, 'iteration'), iter_per_epoch=2)
    trainer.out = str(tmp_path)

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        chainer.report({'x': numpy.float32(trainer.updater.iteration)})

    trainer.extend(source)
    trainer.extend(LogReport())
    return trainer


class Widget:
    """Stands for the widgets of ipywidgets and for a table of pandas."""

    shown = None

    def __init__(self, *args, **kwargs):
        vars(self).update({'value': None, 'args': args}, **kwargs)

    def to_html(self, **kwargs):
        log, columns = self.args[0], self.columns
        return '|'.join(' '.join(f'{row[name]:g}' for name in columns) for row in log) or 'none'


def _install(monkeypatch):
    modules = {name: types.ModuleType(name) for name in LIBRARIES}
    modules['pandas'].DataFrame = Widget
    for name in 'HTML', 'FloatProgress', 'VBox':
        setattr(modules['ipywidgets'], name, Widget)
    modules['IPython'].display = types.SimpleNamespace(
        display=lambda widget: setattr(Widget, 'shown', widget)
    )
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(Widget, 'shown', None)


def _make(out):
    table = print_report_notebook.PrintReportNotebook(['iteration', 'x'], out=out)
    return table, progress_bar_notebook.ProgressBarNotebook(update_interval=1, out=out)


@pytest.mark.parametrize('missing', LIBRARIES)
def test_text_without_libraries(trainer, monkeypatch, missing):
    _install(monkeypatch)
    monkeypatch.setitem(sys.modules, missing, None)
    out, bar_out = io.StringIO(), io.StringIO()
    table, bar = _make(out)[0], _make(bar_out)[1]
    trainer.extend(table)
    trainer.extend(bar)
    trainer.run()
    assert out.getvalue().replace('\033[J', '').split() == 'iteration x 2 1.5 4 3.5'.split()
    assert ('100.00%' in bar_out.getvalue()) == (missing != 'pandas')


def test_call_without_initialize(trainer):
    table, bar = _make(out := io.StringIO())
    trainer.run()
    table(trainer)
    bar(trainer)
    assert '3.5' in out.getvalue()
    assert '100.00%' in out.getvalue()


def test_widgets(trainer, monkeypatch):
    _install(monkeypatch)
    table, bar = _make(out := io.StringIO())
    trainer.extend(table)
    trainer.run()
    assert Widget.shown.value == '2 1.5|4 3.5'

    bar.initialize(trainer)
    bar(trainer)
    bar.finalize()
    total, epoch, status = Widget.shown.args[0]
    assert (total.value, epoch.value) == (1, 1)
    assert '4 iter, 2 epoch / 4 iterations' in status.value
    assert out.getvalue() == ''


class Handle:
    """Stands for IPython's handle of an output, and counts what it is asked to show."""

    def __init__(self):
        self.shown = []

    def display(self, image, display_id):
        assert display_id is True
        self.shown.append(image)
        return self

    def update(self, image):
        self.shown.append(image)


@pytest.mark.parametrize('is_notebook', [False, True])
def test_plots(trainer, monkeypatch, tmp_path, is_notebook):
    pytest.importorskip('matplotlib')
    handle = Handle()
    ipython = types.ModuleType('IPython')
    ipython.version_info = (9, 0)  # which Matplotlib looks at
    ipython.display = types.SimpleNamespace(display=handle.display, Image=bytes)
    monkeypatch.setitem(sys.modules, 'IPython', ipython)
    if is_notebook:
        shell = type('ZMQInteractiveShell', (), {})
        monkeypatch.setattr(builtins, 'get_ipython', shell, raising=False)
    report = training.extensions.PlotReport(['x'], trigger=(1, 'iteration'), filename='x.pdf')
    trainer.extend(report)
    trainer.run()
    assert (tmp_path / 'x.pdf').read_bytes().startswith(b'%PDF')
    assert len(handle.shown) == (4 if is_notebook else 0)
    assert all(image.startswith(b'\x89PNG') for image in handle.shown)
    assert len(set(handle.shown)) == len(handle.shown)


def test_notebook_without_widgets(tmp_path):
    """Trains in an interpreter that looks like a kernel of Jupyter."""
    program = """
import builtins, sys
sys.modules.update(dict.fromkeys(['ipywidgets', 'IPython', 'pandas']))
builtins.get_ipython = type('ZMQInteractiveShell', (), {})
from chainer import testing
from chainer.training import extensions
trainer = testing.get_trainer_with_mock_updater((4, 'iteration'), iter_per_epoch=2)
trainer.extend(extensions.LogReport())
trainer.extend(extensions.PrintReport(['iteration']))
trainer.extend(extensions.ProgressBar())
trainer.out = '.'
trainer.run()
print(type(trainer.get_extension('PrintReportNotebook')).__name__)
"""
    result = subprocess.run(
        [sys.executable, '-c', program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        env=os.environ | {'PYTHONPATH': os.path.dirname(os.path.dirname(chainer.__file__))},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split()[0] == 'iteration'
    assert result.stdout.split()[-1] == 'PrintReportNotebook'
