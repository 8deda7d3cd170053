"""The notebook of the examples runs in Jupyter, and shows models, training, plans and profiles."""

import os
import re
from pathlib import Path

import pytest

import chainer
import chainerx
from tests.example_tests.conftest import EXAMPLES

nbformat = pytest.importorskip('nbformat')
nbclient = pytest.importorskip('nbclient')
pytest.importorskip('ipykernel')

PATH = Path(EXAMPLES) / 'notebook' / 'digits.ipynb'
WITHOUT_WIDGETS = "import sys\nsys.modules['ipywidgets'] = None"
# What tells the output of a cell, by a text of the cell's code.
SHOWN = {
    r'\nmodel$': r'<details open=""><summary><b>Classifier</b>.*7,510 parameters.*Linear',
    r'chainer\.summary': r'<table>.*FLOPs.*6,500',
    r'^predictor\(': r'<details.*variable: \(2, 10\) float32 on @numpy',
    r'trainer\.run': r'<table>.*validation/main/accuracy.*</table>.*<progress value',
    r'chainer\.compile': r'&lt;compiled step: 5 calls',
    r'profiler': r'<table>.*Profile of .*update of parameters',
}


def _html(cell):
    return ''.join(output.get('data', {}).get('text/html', '') for output in cell.outputs)


@pytest.mark.parametrize('widgets', [True, False])
def test_notebook(widgets, tmp_path, monkeypatch):
    if widgets:
        pytest.importorskip('ipywidgets')
    root = str(Path(chainer.__file__).resolve().parents[1])
    paths = [root, os.environ.get('PYTHONPATH', '')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get('outputs') for cell in notebook.cells)
    if not widgets:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_WIDGETS))
    resources = {'metadata': {'path': str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=100, resources=resources).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == 'code']
    for source, shown in SHOWN.items():
        (cell,) = [cell for cell in code if re.search(source, cell.source)]
        assert re.search(shown, _html(cell), re.S), source
    (step,) = [cell for cell in code if 'chainer.compile' in cell.source]
    assert ('5 calls, 1 of them by a plan' in _html(step)) == chainerx.is_available()
    texts = [output for cell in code for output in cell.outputs if output.output_type == 'stream']
    assert texts == []  # all is shown in place, and no warning
