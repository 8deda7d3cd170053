"""Compares the installed packages with the names and parameters that the project promises.

    python tools/check_api.py [--missing] [PREFIX ...]   count existing names, list missing ones
    python tools/check_api.py --check                    compare with tools/api/missing.txt
    python tools/check_api.py --update                   rewrite tools/api/missing.txt

``tools/api/<package>.txt`` lists the promised names. A function must take the listed parameters
in the listed order with the listed defaults (``...`` means any).
``tools/api/missing.txt`` lists the missing names; it may only shrink.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import io
import re
import sys
import textwrap
import warnings
from pathlib import Path

API = Path(__file__).resolve().parent / 'api'
BASELINE = API / 'missing.txt'
PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'


def read_promises():
    """Returns ``{module: {name: parameters or None}}``."""
    modules = {}
    for package in PACKAGES:
        for line in (API / (package + '.txt')).read_text().splitlines():
            if not line or line.startswith('#'):
                continue
            if line.startswith('['):
                names = modules.setdefault(line[1:-1], {})
            elif '(' in line:
                name, parameters = line.split('(', 1)
                names[name] = '(' + parameters
            else:
                names.update(dict.fromkeys(line.split()))
    return modules


def _lookup(module, dotted):
    value = module
    for part in dotted.split('.'):
        value = getattr(value, part)
    return value


def _default_differs(promised, actual):
    """Returns whether a default differs from the promised one; False if they are not comparable."""
    if promised is None:
        return False
    if actual is inspect.Parameter.empty:
        return True
    promised = ast.literal_eval(promised)
    if promised is ...:
        return False
    try:
        return promised != ast.literal_eval(repr(actual))
    except (ValueError, SyntaxError):
        return False


def _signature_faults(promised, actual):
    """Lists the parameters that a signature lacks or that differ, as short words."""
    arguments = ast.parse(f'def f{promised}: pass').body[0].args
    positional = arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    wanted = [*zip(positional, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]

    kinds = {parameter.kind for parameter in actual.parameters.values()}
    takes_any_name = inspect.Parameter.VAR_KEYWORD in kinds
    takes_any_position = inspect.Parameter.VAR_POSITIONAL in kinds
    faults = []
    for argument, default in wanted:
        parameter = actual.parameters.get(argument.arg)
        if parameter is None:
            if not takes_any_name:
                faults.append(argument.arg)
        elif _default_differs(default, parameter.default):
            faults.append('{}={}'.format(argument.arg, ast.unparse(default).replace(' ', '')))
    if not faults and not takes_any_position:
        order = [name for name in actual.parameters if name not in ('self', 'cls')]
        if order[: len(positional)] != [argument.arg for argument in positional]:
            faults.append('order')
    return faults


def _missing_in(module, names):
    missing = []
    for name, parameters in names.items():
        try:
            value = _lookup(module, name)
        except AttributeError:
            missing.append(name)
            continue
        if parameters is None:
            continue
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):  # a compiled function without a signature
            continue
        faults = _signature_faults(parameters, signature)
        if faults:
            missing.append('{}({})'.format(name, ','.join(faults)))
    return missing


def find_missing(promises):
    """Returns ``{module: list of missing names}``; ``['*']`` for a missing module.

    Skips modules that cannot be imported because another package is not installed.
    """
    missing = {}
    for module_name, names in promises.items():
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter('ignore')
                module = importlib.import_module(module_name)
                missing[module_name] = _missing_in(module, names)
        except ModuleNotFoundError as error:
            if error.name.split('.')[0] in PACKAGES:
                missing[module_name] = ['*']
        except Exception as error:  # a module that cannot be imported promises nothing
            print(f'{module_name}: {error!r}', file=sys.stderr)
            missing[module_name] = ['*']
    return missing


def read_baseline():
    if not BASELINE.exists():
        return {}
    lines = re.sub(r'\n +', ' ', BASELINE.read_text()).splitlines()
    rows = (line.split(': ', 1) for line in lines if line and not line.startswith('#'))
    return {module: set(names.split()) for module, names in rows}


def write_baseline(missing):
    """Writes the missing names; modules that were not checked keep their rows."""
    missing = {**{module: sorted(names) for module, names in read_baseline().items()}, **missing}
    text = '# What is promised and still missing; written by "check_api.py --update".\n'
    for module, names in sorted(missing.items()):
        if names:
            text += (
                textwrap.fill(
                    '{}: {}'.format(module, ' '.join(names)),
                    100,
                    subsequent_indent='  ',
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                + '\n'
            )
    BASELINE.write_text(text)


def compare(missing, baseline):
    """Returns the lost and the new names since the baseline, as lists of lines."""
    lost, arrived = [], []
    for module, names in missing.items():
        before = baseline.get(module, set())
        if '*' in before:
            if names != ['*']:
                arrived.append(f'{module}: the module is there')
            continue
        lost += [f'{module}: {name}' for name in names if name not in before]
        arrived += [f'{module}: {name}' for name in sorted(before - set(names))]
    return lost, arrived


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('prefix', nargs='*', help='only modules with one of these prefixes')
    parser.add_argument('--missing', action='store_true', help='print the missing names')
    parser.add_argument('--check', action='store_true', help='compare with the baseline')
    parser.add_argument('--update', action='store_true', help='rewrite the baseline')
    args = parser.parse_args()

    promises = read_promises()
    if args.prefix:
        promises = {m: n for m, n in promises.items() if m.startswith(tuple(args.prefix))}
    import chainerx

    if not chainerx.is_available():
        print('ChainerX is not built: its names are skipped.')
        promises = {m: n for m, n in promises.items() if m.split('.')[0] != 'chainerx'}
    missing = find_missing(promises)

    if args.update:
        write_baseline(missing)
    if args.check:
        lost, arrived = compare(missing, read_baseline())
        for title, rows in ('Gone missing', lost), ('Arrived (run --update)', arrived):
            if rows:
                print('{}:\n  {}'.format(title, '\n  '.join(rows)))
        return 1 if lost or arrived else 0

    total = gone = 0
    for module, names in missing.items():
        count = len(promises[module]) or 1
        lacking = count if names == ['*'] else len(names)
        total, gone = total + count, gone + lacking
        if lacking:
            print(f'{module}: {count - lacking} of {count}')
            if args.missing:
                print(
                    textwrap.fill(
                        'missing: ' + ' '.join(names),
                        100,
                        initial_indent='    ',
                        subsequent_indent='    ',
                        break_long_words=False,
                    )
                )
    print(f'{total - gone} of {total} promised names are there.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
