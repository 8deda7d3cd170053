"""Records the names and signatures of an installed CuPy, which the stand-in follows.

Run ``python tools/record_cupy_api.py`` with the CuPy of each supported major version (a GPU is not
needed). A line of ``api.txt`` is the major versions for which it holds, a name, its kind and the
parameters; ``=`` marks those with defaults. ``module: import`` is a module that ``import cupy``
does not bring.
"""

import importlib
import inspect
import json
import pathlib
import re
import sys
import warnings

PATH = pathlib.Path(__file__).parents[1] / 'tests/helpers/cupy_emulation/api.txt'
# What programs for Chainer use: everything public in these modules and classes
MODULES = (
    'cupy cupy.cuda cupy.cuda.nccl cupy.cuda.nvtx cupy.cuda.runtime cupy.fft '
    'cupy.lib.stride_tricks cupy.linalg cupy.random cupyx cupyx.scipy.special'.split()
)
_SPECIAL = frozenset(
    '__array__ __array_function__ __array_ufunc__ __array_priority__ __cuda_array_interface__ '
    '__deepcopy__ __dlpack__ __dlpack_device__ __enter__ __exit__ __call__ __int__ __setitem__ '
    '__getitem__ __len__ __bool__ __float__ __matmul__ __reduce__'.split()
)


def _parameter(text):
    """``'tuple options=()'`` as ``'options='``."""
    before, equals, _ = text.partition('=')
    return re.split(r'[\s.]', before.partition(':')[0].strip())[-1] + equals


def _split(text):
    """Parts of the text of a parameter list, at commas outside brackets."""
    parts, depth = [''], 0
    for c in text:
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and not depth:
            parts.append('')
        else:
            parts[-1] += c
    return [part.strip().replace('\\', '') for part in parts if part.strip()]


def _signature(obj):
    """Parameters of a callable; ``'?'`` if CuPy does not tell."""
    first = (getattr(obj, '__doc__', None) or '').strip().partition('\n')[0]
    try:
        parts = []
        parameters = list(inspect.signature(obj).parameters.values())
        for p, following in zip(parameters, [*parameters[1:], None]):
            if (
                p.kind is p.KEYWORD_ONLY
                and '*' not in parts
                and not any(part.startswith('*') for part in parts)
            ):
                parts.append('*')
            star = {p.VAR_POSITIONAL: '*', p.VAR_KEYWORD: '**'}.get(p.kind, '')
            parts.append(star + p.name + ('' if p.default is p.empty else '='))
            if p.kind is p.POSITIONAL_ONLY and (
                following is None or following.kind is not p.POSITIONAL_ONLY
            ):
                parts.append('/')
    except (TypeError, ValueError):
        match = re.match(r'[\w.]+\((.*)\)( ->.*)?$', first)
        if match is None:
            return '?'
        parts = [_parameter(part) for part in _split(match.group(1))]
    if parts and parts[0] in ('self', 'cls'):
        parts = [part for part in parts[1:] if part != '/' or parts[1:].index('/')]
    return ', '.join(parts)


def _kind(obj):
    if type(obj).__name__ == 'ufunc':
        return f'ufunc({obj.nin}, {obj.nout}): {_signature(obj)}'
    if isinstance(obj, type):
        return f'class: {_signature(obj)}'
    return f'function: {_signature(obj)}' if callable(obj) else 'value'


def _defined(obj):
    """Names in a module or a class and its bases, without those that ``__getattr__`` makes."""
    owners = obj.__mro__[:-1] if isinstance(obj, type) else [obj]
    return {name for owner in owners for name in vars(owner)}


def _members(prefix, obj, is_public, listing):
    for name in sorted(listing(obj)):
        if not is_public(name):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                member = getattr(obj, name)
        except Exception:
            continue
        if not inspect.ismodule(member):
            yield f'{prefix}.{name}', member


def _modules():
    """Kinds of the modules: whether programs must import them, beside the package."""
    result = {}
    for name in MODULES:
        package, *parts = name.split('.')
        module = importlib.import_module(package)
        for part in parts:
            module = getattr(module, part, None)
        if parts:
            result[name] = 'module' if inspect.ismodule(module) else 'module: import'
    return result


def record(listing=dir):
    """Dictionary from names to kinds and parameters; ``listing`` gives the names of an object."""
    result = _modules()  # first, since the lines below import them
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name, member in _members(module_name, module, lambda name: name[0] != '_', listing):
            defined = getattr(member, '__module__', None) or 'cupy'
            if (
                not defined.startswith('cupy')
                and not hasattr(module, '__all__')
                and (module_name != 'cupy' or inspect.isfunction(member))
            ):
                continue  # imported from elsewhere
            if member is getattr(importlib.import_module('numpy'), name.split('.')[-1], None):
                result[name] = 'numpy'
                continue
            result[name] = _kind(member)
            if isinstance(member, type) and defined.startswith('cupy'):
                result.update(
                    (inner, _kind(value))
                    for inner, value in _members(
                        name,
                        member,
                        lambda name: name[0] != '_' or name in _SPECIAL,
                        listing,
                    )
                )
    return result


def read():
    """Recorded facts: a dictionary of names for each major version of CuPy."""
    result = {}
    if PATH.exists():
        for line in PATH.read_text().splitlines():
            versions, name, kind = line.split(' ', 2)
            for version in versions.split(','):
                result.setdefault(version, {})[name] = kind
    return result


def write(recorded):
    """Writes the facts; versions that agree share a line."""
    lines = {}
    for version in sorted(recorded):
        for name, kind in recorded[version].items():
            lines.setdefault((name, kind), []).append(version)
    PATH.write_text(
        ''.join(
            f'{",".join(versions)} {name} {kind}\n'
            for (name, kind), versions in sorted(lines.items())
        )
    )


if __name__ == '__main__':
    import cupy

    if '--print' in sys.argv:
        print(json.dumps(record(_defined if '--defined' in sys.argv else dir)))
        sys.exit()
    write({**read(), cupy.__version__.split('.')[0]: record()})
