"""Defaults of the configuration, from environment variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.settings.half import find_bfloat16
from chainer._core.settings.mixed16 import MIXED_BFLOAT16, mixed16

if TYPE_CHECKING:
    from chainer._core.settings.mixed16 import _Mixed16


def get_flag(name: str, default: bool = False) -> bool:
    """Value of a 0/1 environment variable."""
    text = os.environ.get(name, '').strip()
    if not text:
        return default
    try:
        return bool(int(text))
    except ValueError:
        raise ValueError(
            f'invalid value of the environment variable {name}: {text!r} (must be 0 or 1)'
        ) from None


def _get_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    text = os.environ.get(name) or default
    if text not in choices:
        raise ValueError(
            f'invalid value of the environment variable {name}: {text!r} '
            f'(must be one of {", ".join(choices)})'
        )
    return text


def _get_dtype(name: str) -> numpy.dtype[Any] | _Mixed16 | str:
    text = os.environ.get(name) or 'float32'
    if text == 'mixed16':
        return mixed16
    if text == MIXED_BFLOAT16:
        return text
    if text not in ('float16', 'float32', 'float64'):
        raise TypeError(
            f'incorrect dtype name in {name}: {text!r}. '
            'Only float16, float32, float64, mixed16 and mixed_bfloat16 are allowed.'
        )
    return numpy.dtype(text)


def check_text(name: str, text: str, default: Any) -> None:
    """Checks a text that a program gives as an entry of the configuration.

    Entries with a few words as values are checked where they are used, as in Chainer 7.

    Args:
        name (str): Name of the entry.
        text (str): Value.
        default: Default value of the entry.

    Raises:
        TypeError: The entry is a flag, or the text names no dtype.
        ImportError: The dtype is bfloat16, and the package that NumPy needs for it is missing.

    """
    what = f'chainer.config.{name} must be'
    if isinstance(default, bool):
        raise TypeError(f'{what} True or False, but the text {text!r} was given')
    if name == 'dtype':
        if text in ('bfloat16', MIXED_BFLOAT16):
            find_bfloat16()
            return
        try:
            numpy.dtype(text)
        except TypeError:
            raise TypeError(
                f'{what} float16, float32, float64 or chainer.mixed16, but {text!r} was given'
            ) from None


def get_default_config() -> dict[str, Any]:
    """Returns the initial entries of ``chainer.global_config``.

    Raises:
        ValueError, TypeError: If an environment variable has an invalid value.

    """
    levels = ('always', 'auto', 'never')
    return {
        'autotune': False,
        'chainerx_fallback': _get_choice(
            'CHAINERX_FALLBACK', 'silent', ('silent', 'warn', 'raise', 'report')
        ),
        'compute_mode': None,
        'cudnn_deterministic': False,
        'cudnn_fast_batch_normalization': get_flag('CHAINER_CUDNN_FAST_BATCH_NORMALIZATION'),
        'debug': get_flag('CHAINER_DEBUG'),
        'dtype': _get_dtype('CHAINER_DTYPE'),
        'enable_backprop': True,
        'exact_resume': _get_choice('CHAINER_EXACT_RESUME', 'auto', levels),
        'in_recomputing': False,
        'keep_graph_on_report': get_flag('CHAINER_KEEP_GRAPH_ON_REPORT'),
        'lazy_grad_sum': get_flag('CHAINER_LAZY_GRAD_SUM'),
        'schedule_func': None,
        'train': True,
        'type_check': get_flag('CHAINER_TYPE_CHECK', True),
        'use_cudnn': _get_choice('CHAINER_USE_CUDNN', 'auto', levels),
        'use_cudnn_tensor_core': 'auto',
        'use_ideep': _get_choice('CHAINER_USE_IDEEP', 'never', levels),
        'use_native_kernels': _get_choice('CHAINER_USE_NATIVE_KERNELS', 'auto', levels),
        'use_static_graph': True,
        'warn_nondeterministic': False,
    }
