"""The public names that are there stay there."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_promised_names():
    result = subprocess.run(
        [sys.executable, str(ROOT / 'tools' / 'check_api.py'), '--check'],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
