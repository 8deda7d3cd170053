"""The options of ``quantize`` and ``prepare``, which one class states."""

import dataclasses
import inspect

import pytest

from chainer import quantization
from chainer.quantization._scheme import Scheme


@pytest.mark.parametrize('function', [quantization.quantize, quantization.prepare])
def test_functions_have_the_options(function):
    parameters = list(inspect.signature(function).parameters.values())[1:]
    options = {field.name: field.default for field in dataclasses.fields(Scheme)}
    assert list({p.name: p.default for p in parameters}.items())[: len(options)] == list(
        options.items()
    )
