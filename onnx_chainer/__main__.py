"""Command line: ``python -m onnx_chainer info|check|run model.onnx``."""

from __future__ import annotations

import argparse
import collections
import sys
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence


def _text(info):
    """Name, dtype and shape of an input or output."""
    from onnx import helper

    kind = info.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type) if kind.elem_type else 'any'
    shape = ', '.join(str(d.dim_param or d.dim_value or '?') for d in kind.shape.dim)
    return f'{info.name}: {dtype} ({shape})'


def _load(path):
    import onnx

    return onnx.load(path)


def info(args: argparse.Namespace) -> None:
    """Prints what a model takes, gives and consists of."""
    model = _load(args.model)
    graph = model.graph
    opsets = ', '.join(f'{o.domain or "ai.onnx"} {o.version}' for o in model.opset_import)
    print(f'producer: {model.producer_name} {model.producer_version}'.rstrip())
    print(f'IR version: {model.ir_version}; operator sets: {opsets}')
    held = {t.name for t in graph.initializer}
    for kind, values in ('input', graph.input), ('output', graph.output):
        for value in values:
            if value.name not in held:
                print(f'{kind}: {_text(value)}')
    sizes = [int(numpy.prod(t.dims)) for t in graph.initializer]
    print(f'parameters and constants: {len(sizes)} arrays, {sum(sizes):,} elements')
    counts = collections.Counter(node.op_type for node in graph.node)
    print(f'nodes: {len(graph.node)}')
    for name, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f'  {name}: {n}')


def check(args: argparse.Namespace) -> None:
    """Checks a model and infers its shapes."""
    import onnx

    onnx.checker.check_model(args.model, full_check=True)
    print(f'{args.model} is valid')


def run(args: argparse.Namespace) -> None:
    """Runs a model on random numbers, or on the arrays of a file of NumPy."""
    try:
        import onnxruntime
    except ImportError as e:
        raise ImportError(
            'running a model needs the package onnxruntime: pip install "chainer[onnx]"'
        ) from e

    session = onnxruntime.InferenceSession(args.model, providers=['CPUExecutionProvider'])
    given = dict(numpy.load(args.inputs)) if args.inputs else {}
    random = numpy.random.RandomState(args.seed)
    inputs = {}
    for value in session.get_inputs():
        if value.name in given:
            inputs[value.name] = given[value.name]
            continue
        shape = [n if isinstance(n, int) else args.length for n in value.shape]
        dtype = _dtypes[value.type]
        if numpy.dtype(dtype).kind == 'f':
            inputs[value.name] = random.standard_normal(shape).astype(dtype)
        else:
            inputs[value.name] = numpy.zeros(shape, dtype)
    outputs = session.run(None, inputs)
    for value, y in zip(session.get_outputs(), outputs):
        print(f'{value.name}: {y.dtype} {y.shape}')
        print(y)
    if args.outputs:
        numpy.savez(args.outputs, **dict(zip([v.name for v in session.get_outputs()], outputs)))


_dtypes = {
    'tensor(float)': 'f4',
    'tensor(float16)': 'f2',
    'tensor(double)': 'f8',
    'tensor(bool)': '?',
    **{f'tensor(int{n})': f'i{n // 8}' for n in (8, 16, 32, 64)},
    **{f'tensor(uint{n})': f'u{n // 8}' for n in (8, 16, 32, 64)},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments (list of str): Arguments; those of the process by default.

    Returns:
        int: Exit status.

    """
    parser = argparse.ArgumentParser(prog='python -m onnx_chainer', description=__doc__)
    commands = parser.add_subparsers(required=True, metavar='info|check|run')
    for function in info, check, run:
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.add_argument('model', help='path of the model')
        command.set_defaults(function=function)
        if function is run:
            command.add_argument('--inputs', help='file (.npz) with arrays by the names of inputs')
            command.add_argument('--outputs', help='file (.npz) that gets the outputs')
            command.add_argument('--length', type=int, default=1, help='length of dynamic axes')
            command.add_argument('--seed', type=int, default=0, help='seed of random inputs')
    args = parser.parse_args(arguments)
    try:
        args.function(args)
    except Exception as e:
        print(f'{type(e).__name__}: {e}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
