"""Names and signatures of the CuPy that the stand-in follows, from ``api.txt``."""

import inspect
import os
import pathlib

import numpy

_NEWEST = 14 if numpy.lib.NumpyVersion(numpy.__version__) >= '2.0.0' else 13
MAJOR = int(os.environ.get('CUPY_EMULATION_VERSION') or _NEWEST)
_P = inspect.Parameter


def _read():
    lines = pathlib.Path(__file__).parents[1].joinpath('api.txt').read_text().splitlines()
    facts = [line.split(' ', 2) for line in lines]
    return {name: kind for versions, name, kind in facts if str(MAJOR) in versions.split(',')}


API = _read()


def names(prefix):
    """Names directly under a module or class."""
    start = len(prefix) + 1
    return [
        name[start:] for name in API if name.startswith(f'{prefix}.') and '.' not in name[start:]
    ]


def signature(kind):
    """Signature of a recorded kind, such as ``'function: a, axis='``; ``None`` if unknown."""
    text = kind.partition(': ')[2]
    if text == '?':
        return None
    parameters, how = [], _P.POSITIONAL_OR_KEYWORD
    for part in filter(None, text.split(', ')):
        if part == '/':
            parameters = [p.replace(kind=_P.POSITIONAL_ONLY) for p in parameters]
        elif part == '*':
            how = _P.KEYWORD_ONLY
        elif part.startswith('**'):
            parameters.append(_P(part[2:], _P.VAR_KEYWORD))
        elif part.startswith('*'):
            parameters.append(_P(part[1:], _P.VAR_POSITIONAL))
            how = _P.KEYWORD_ONLY
        else:
            default = None if part.endswith('=') else _P.empty
            parameters.append(_P(part.rstrip('='), how, default=default))
    return inspect.Signature(parameters)
