"""Calls of the ops in the table."""

import inspect
import zlib

import numpy as np

import chainerx

SIGNATURES = {op['name']: op['signature'] for op in chainerx._core._ops()}


def function(name):
    module, _, name = name.rpartition('.')
    home = getattr(chainerx._core, f'_{module}') if module else chainerx._core
    return getattr(home, name)


def parameters(name):
    """The parameters of an op, by name."""
    return eval(f'inspect.signature(lambda {SIGNATURES[name]}: 0)', {'inspect': inspect}).parameters


def make_inputs(row, case, dtype, shapes=None):
    rng = np.random.default_rng(zlib.crc32(row.name.encode()) + case)
    specs, kwargs = row.cases[case]
    arrays = [spec.make(dtype, rng) for spec in specs]
    if shapes is not None:
        arrays = [np.resize(a, shape).astype(a.dtype) for a, shape in zip(arrays, shapes)]
    return arrays, kwargs


def as_list(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def run_on(row, arrays, kwargs):
    return as_list(row.call(function(row.name), arrays, kwargs))


def run(row, arrays, kwargs):
    return run_on(row, [chainerx.array(a) for a in arrays], kwargs)
