"""The stress of the product runs shortly without a finding, and finds what it looks for."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import mpi

ROOT = Path(__file__).resolve().parents[2]
PARTS = sorted(
    path.stem
    for path in (ROOT / 'tools' / 'stress').glob('*.py')
    if re.search('^def case', path.read_text(), re.MULTILINE)
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != 'linux', reason='the stress needs Linux'),
]


def _load_guard():
    spec = importlib.util.spec_from_file_location('guard', ROOT / 'tools' / 'stress' / 'guard.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


guard = _load_guard()


def stress(*arguments):
    command = [sys.executable, '-m', 'tools.stress', *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.timeout(300)
@pytest.mark.parametrize('part', PARTS)
def test_part(part):
    if part in ('jobs', 'ranks') and (mpi.reason_to_skip() or mpi.mpiexec() is None):
        pytest.skip(mpi.reason_to_skip() or 'needs mpiexec')
    # Some datasets and ways to start processes.
    seconds = '8' if part == 'workers' else '0.5'
    result = stress(part, '--seconds', seconds)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(rf'^{part}: \d+ cases, [1-9].*, 0 findings$', result.stdout, re.MULTILINE)


def test_parts_are_described():
    text = stress('--help').stdout
    assert all(re.search(f'^  {part} ', text, re.MULTILINE) for part in PARTS)
    assert len(PARTS) == 10


@pytest.mark.parametrize(
    'code, finding',
    [
        ('import time; time.sleep(100)', 'hangs.*File "<string>", line 1'),
        ('import os, time; os.fork() or time.sleep(100)', r"leaves processes: \['.*sleep"),
        ('import tempfile; tempfile.mkstemp("left")', r"leaves \['tmp.*left"),
    ],
)
def test_findings(code, finding, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, '_GRACE', 0.2)
    child = guard.Child('-c', code, folder=tmp_path)
    with pytest.raises(guard.Finding, match=f'(?s){finding}'):
        child.wait(0.5 if 'hangs' in finding else 20)
    assert child.process.returncode is not None and not child.members()


def test_exit_status(tmp_path):
    code = 'print("before", flush=True); import os; os.abort()'
    child = guard.Child('-c', code, folder=tmp_path)
    assert child.wait(20) == -6
    assert child.output == 'before\n' and 'Fatal Python error' in child.describe()
