"""The extensions that notebooks show in their place, and as text where IPython is not installed."""

import builtins
import io
import os
import re
import subprocess
import sys
import types

import numpy
import pytest

import chainer
from chainer import testing, training
from chainer.training.extensions import (
    LogReport,
    ProgressBar,
    print_report_notebook,
    progress_bar_notebook,
)


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


class Handle:
    """Stands for IPython's handle of an output, and counts what it is asked to show."""

    def __init__(self):
        self.shown = []

    def display(self, content, display_id):
        assert display_id is True and not self.shown
        self.shown.append(content)
        return self

    def update(self, content):
        assert self.shown
        self.shown.append(content)


def _install(monkeypatch):
    """A stand-in for IPython with one output."""
    handle = Handle()
    ipython = types.ModuleType('IPython')
    ipython.version_info = (9, 0)  # which Matplotlib looks at
    ipython.display = types.SimpleNamespace(display=handle.display, Image=bytes, HTML=str)
    monkeypatch.setitem(sys.modules, 'IPython', ipython)
    return handle


def _make(out):
    table = print_report_notebook.PrintReportNotebook(['iteration', 'x'], out=out)
    return table, progress_bar_notebook.ProgressBarNotebook(update_interval=1, out=out)


def test_text_without_ipython(trainer, monkeypatch):
    monkeypatch.setitem(sys.modules, 'IPython', None)
    out, bar_out = io.StringIO(), io.StringIO()
    table, bar = _make(out)[0], _make(bar_out)[1]
    trainer.extend(table)
    trainer.extend(bar)
    trainer.run()
    assert out.getvalue().replace('\033[J', '').split() == 'iteration x 2 1.5 4 3.5'.split()
    assert '100.00%' in bar_out.getvalue()


def test_call_without_initialize(trainer, monkeypatch):
    monkeypatch.setitem(sys.modules, 'IPython', None)
    table, bar = _make(out := io.StringIO())
    trainer.run()
    table(trainer)
    bar(trainer)
    assert '3.5' in out.getvalue()
    assert '100.00%' in out.getvalue()


def _cells(text):
    return re.findall('<t[hd][^>]*>(.*?)</t', text)


def test_table(trainer, monkeypatch):
    handle = _install(monkeypatch)
    table, _ = _make(out := io.StringIO())
    trainer.extend(table, trigger=(1, 'iteration'))
    trainer.run()
    head = ['iteration', 'x']
    rows = ['2', '1.5'], ['4', '3.5']
    assert [_cells(text) for text in handle.shown] == [
        head,
        head + rows[0],
        head + rows[0] + rows[1],
    ]
    assert out.getvalue() == ''


def test_values_that_are_missing_and_names_of_html(trainer, monkeypatch):
    handle = _install(monkeypatch)
    table = print_report_notebook.PrintReportNotebook(['x', '<b>', 'epoch'])
    trainer.extend(table)
    trainer.run()
    assert _cells(handle.shown[-1]) == ['x', '&lt;b&gt;', 'epoch', '1.5', '', '1', '3.5', '', '2']


@pytest.mark.parametrize('interval', [1, 3])
def test_bars(trainer, monkeypatch, interval):
    handle = _install(monkeypatch)
    bar = progress_bar_notebook.ProgressBarNotebook(update_interval=interval, out=io.StringIO())
    trainer.extend(bar)
    trainer.run()
    assert 'value="0.0000"' in handle.shown[0] and 'total 0.00%' in handle.shown[0]
    assert 'value="1.0000"' in handle.shown[-1] and 'total 100.00%' in handle.shown[-1]
    assert '4 iter, 2 epoch / 4 iterations' in handle.shown[-1]
    assert len(handle.shown) == 1 + 4 // interval + 1


@pytest.mark.parametrize('is_notebook', [False, True])
def test_bars_of_batches_that_reach_into_the_next_epoch(monkeypatch, tmp_path, is_notebook):
    """The bar tells how far the training is, and the time that is left is not negative."""
    handle = _install(monkeypatch) if is_notebook else None
    link = chainer.links.Linear(1)
    optimizer = chainer.optimizers.SGD().setup(link)
    iterator = chainer.iterators.SerialIterator(numpy.ones((5, 1), 'f'), 2)
    updater = training.updaters.StandardUpdater(
        iterator, optimizer, loss_func=lambda x: chainer.functions.sum(link(x))
    )
    trainer = training.Trainer(updater, (1, 'epoch'), out=str(tmp_path))
    kind = progress_bar_notebook.ProgressBarNotebook if is_notebook else ProgressBar
    trainer.extend(kind(update_interval=1, out=(out := io.StringIO())))
    trainer.run()
    assert updater.epoch_detail == 1.2
    text = handle.shown[-1] if handle else out.getvalue()
    assert '120.00%' in text
    assert 'finish: 0:00:00.' in text and '-1 day' not in text


@pytest.mark.parametrize('is_notebook', [False, True])
def test_plots(trainer, monkeypatch, tmp_path, is_notebook):
    pytest.importorskip('matplotlib')
    handle = _install(monkeypatch)
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


def test_notebook_without_ipython(tmp_path):
    """Trains in an interpreter that looks like a kernel of Jupyter."""
    program = """
import builtins, sys
sys.modules.update(dict.fromkeys(['IPython']))
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
