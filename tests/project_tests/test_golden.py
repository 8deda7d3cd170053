"""Behaviour recorded from Chainer 7.8.1, where the records lie beside the repository.

The rest of the suite tests the same behaviour without them.
"""

import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDS = ROOT.parent / 'shared' / 'golden'
KNOWN = ROOT / 'tests' / 'golden' / 'known_differences.txt'

pytestmark = pytest.mark.skipif(
    not RECORDS.is_dir(), reason='the records are not beside the repository'
)


def _check(*args, **environ):
    command = [sys.executable, str(RECORDS / 'check_golden.py'), *map(str, args)]
    return subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize('native_kernels', ['auto', 'never'])
def test_facts_hold(native_kernels):
    """Every fact holds except for the listed ones, and each of those still differs."""
    result = _check('--known', KNOWN, CHAINER_USE_NATIVE_KERNELS=native_kernels)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]


def test_few_differences_are_known():
    limits = collections.defaultdict(lambda: 0.02, chainerx=0.03)
    patterns = _known_patterns(refusals=False)
    for file in RECORDS.glob('*.json'):
        cases = json.loads(file.read_text())['cases']
        facts = [f'{file.stem}/{case["id"]}:{fact}' for case in cases for fact in case['facts']]
        known = [fact for fact in facts if any(pattern.fullmatch(fact) for pattern in patterns)]
        assert len(known) <= limits[file.stem] * len(facts), file.stem


def test_refusals_are_the_only_differences_of_their_rows(tmp_path):
    """Dtypes agree wherever Chainer 7 gives a result."""
    code = """
import sys
import check_golden
same = check_golden.same
check_golden.same = lambda e, a, loose=False: str(e).startswith('error ') or same(e, a, loose)
check_golden.main()
"""
    file = tmp_path / 'failures.json'
    command = [sys.executable, '-c', code, 'chainerx', '--json', str(file)]
    environ = {**os.environ, 'PYTHONPATH': f'{RECORDS}{os.pathsep}{ROOT}'}
    subprocess.run(command, env=environ, check=True, capture_output=True)
    failing = [fact[0] for fact in json.loads(file.read_text())['chainerx']]
    patterns = _known_patterns(refusals=True)
    assert patterns
    assert not [fact for fact in failing if any(pattern.fullmatch(fact) for pattern in patterns)]


def _known_patterns(refusals):
    """Patterns of the section of refusals, or of all other sections."""
    patterns = {True: [], False: []}
    in_refusals = False
    for line in KNOWN.read_text().splitlines():
        if line.startswith('# ---'):
            in_refusals = line.endswith('refusals')
        elif line.strip() and not line.startswith('#'):
            patterns[in_refusals].append(re.compile(line.partition('  # ')[0].strip()))
    return patterns[refusals]
