"""Runs the tests for GPUs on every machine, on the stand-in for CuPy with four devices."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

_TESTS = pathlib.Path(__file__).parents[1]
# What takes about equally long
_GROUPS = {
    'functions': ['chainer_tests/functions_tests'],
    'optimizers and links': [
        'chainer_tests/links_tests',
        'chainer_tests/optimizers_tests',
        'chainer_tests/optimizer_hooks_tests',
        'chainer_tests/training_tests',
    ],
    'examples': ['example_tests', 'smoke_tests'],
}


def _paths(group):
    """Paths of a group; the last group has all files that are in no other."""
    if group in _GROUPS:
        return [_TESTS / path for path in _GROUPS[group]]
    taken = [_TESTS / path for paths in _GROUPS.values() for path in paths]
    return [
        path
        for path in sorted(_TESTS.glob('chainer*_tests/**/test_*.py'))
        if not any(path.is_relative_to(folder) for folder in taken)
        and re.search(r'\b(multi_)?gpu\b|use_cuda|cuda:0', path.read_text())
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize('group', [*_GROUPS, 'rest'])
def test_pass(group, tmp_path):
    environment = {**os.environ, 'CHAINER_TEST_CUPY': 'emulated'}
    for name in [name for name in environment if name.startswith('PYTEST_')]:
        del environment[name]
    done = subprocess.run(
        [
            *(sys.executable, '-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider'),
            *(
                '-p',
                'no:xdist',
                '-m',
                '(gpu or multi_gpu) and not slow',
                '--basetemp',
                tmp_path / 'x',
            ),
            *_paths(group),
        ],
        capture_output=True,
        text=True,
        env=environment,
        cwd=_TESTS.parent,
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    print(done.stdout.splitlines()[-1])
    assert not re.search(r'needs [1-4] CUDA devices', done.stdout), done.stdout
