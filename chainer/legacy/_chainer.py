"""Modules that Chainer 6 and 7 have moved, and names that they have removed."""

from __future__ import annotations

import importlib
import sys
import types

from chainer.functions.pooling.max_pooling_nd import MaxPoolingND, max_pooling_2d
from chainer.functions.pooling.pooling_2d import Pooling2D
from chainer.utils import type_check

# The new package of each module, and the old packages with their modules
_MOVED: dict[str, dict[str, tuple[str, ...]]] = {
    'chainer.functions.rnn': {
        'chainer.functions.activation': ('lstm', 'slstm', 'tree_lstm'),
        'chainer.functions.connection': ('n_step_gru', 'n_step_lstm', 'n_step_rnn'),
    },
    'chainer.links.rnn': {
        'chainer.links.connection': (
            'gru',
            'lstm',
            'mgu',
            'n_step_gru',
            'n_step_lstm',
            'n_step_rnn',
            'peephole',
            'tree_lstm',
            'zoneoutlstm',
        ),
    },
}


class MaxPooling2D(Pooling2D, MaxPoolingND):
    """Maxima of windows in two dimensions, as the function of Chainer 5."""


def install() -> None:
    """Lets programs import from where the modules were."""
    for new, packages in _MOVED.items():
        for old, names in packages.items():
            for name in names:
                _put(old, name, importlib.import_module(f'{new}.{name}'))
    module = types.ModuleType('chainer.functions.pooling.max_pooling_2d')
    MaxPooling2D.__module__ = module.__name__
    vars(module).update(MaxPooling2D=MaxPooling2D, max_pooling_2d=max_pooling_2d)
    _put('chainer.functions.pooling', 'max_pooling_2d', module)
    vars(type_check).setdefault('argname', type_check.expect_arguments)


def _put(package: str, name: str, module: types.ModuleType) -> None:
    """Makes a module importable from a package that lacks it."""
    sys.modules[f'{package}.{name}'] = module
    setattr(importlib.import_module(package), name, module)
