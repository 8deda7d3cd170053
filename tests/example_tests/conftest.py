"""Fixtures that run the examples as from the command line, in a temporary folder."""

import contextlib
import json
import os
import runpy
import sys
import warnings

import pytest

import chainer
import chainerx
from tests.helpers.devices import CHX

EXAMPLES = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, 'examples')


@pytest.fixture(params=['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)])
def device(request):
    return request.param


def _default_device_of_chainerx():
    """Brings it back at the end."""
    if not chainerx.is_available():
        return contextlib.nullcontext()
    return chainerx.using_device(chainerx.get_default_device())


@pytest.fixture
def run_example(monkeypatch, tmp_path, capsys):
    """Function of a script below ``examples/`` and its options; returns what it prints.

    The script runs in this process, as importing everything again would take longer than most
    examples; modules beside the script are forgotten afterwards, as their names repeat.
    """
    monkeypatch.chdir(tmp_path)

    def run(script, *options):
        path = os.path.realpath(os.path.join(EXAMPLES, script))
        folder = os.path.dirname(path)
        examples = os.path.realpath(EXAMPLES)
        before = set(sys.modules)
        with (
            monkeypatch.context() as patch,
            chainer.using_device('@numpy'),
            _default_device_of_chainerx(),
            chainer.using_config('dtype', chainer.config.dtype),
            warnings.catch_warnings(),
        ):
            patch.setattr(sys, 'argv', [path, *map(str, options)])
            patch.syspath_prepend(folder)
            try:
                runpy.run_path(path, run_name='__main__')
            finally:
                for name in set(sys.modules) - before:
                    file = getattr(sys.modules[name], '__file__', None) or ''
                    if file.startswith(examples + os.sep):
                        del sys.modules[name]
        return capsys.readouterr().out

    return run


@pytest.fixture
def read_log(tmp_path):
    """Function that reads the entries of ``LogReport`` from an output folder."""

    def read(out='result'):
        return json.loads((tmp_path / out / 'log').read_text())

    return read
