"""Convolutions of ResNet50 and ``cnn``, layer by layer: ``python benchmarks/conv_layers.py``.

Each layer runs in each library in turn (A B C A B C), after the results have been compared. The
table gives the least time of a call in all turns and the multiply-adds per nanosecond. The last row
adds the layers of ResNet50, each as often as it occurs. ONNX Runtime, if installed, runs a model of
one convolution, whose weights it has packed; ``chainerx.conv`` packs them in each call.
"""

import argparse
import importlib.util
import os
import sys
import time
import timeit

from run import THREAD_VARIABLES

# Channels, channels of the output, size, kernel, stride, and how often ResNet50 has the layer
RESNET50 = [
    (3, 64, 224, 7, 2, 1),
    (64, 64, 56, 1, 1, 1),
    (64, 64, 56, 3, 1, 3),
    (64, 256, 56, 1, 1, 4),
    (256, 64, 56, 1, 1, 2),
    (256, 128, 56, 1, 1, 1),
    (128, 128, 56, 3, 2, 1),
    (256, 512, 56, 1, 2, 1),
    (128, 128, 28, 3, 1, 3),
    (128, 512, 28, 1, 1, 4),
    (512, 128, 28, 1, 1, 3),
    (512, 256, 28, 1, 1, 1),
    (256, 256, 28, 3, 2, 1),
    (512, 1024, 28, 1, 2, 1),
    (256, 256, 14, 3, 1, 5),
    (256, 1024, 14, 1, 1, 6),
    (1024, 256, 14, 1, 1, 5),
    (1024, 512, 14, 1, 1, 1),
    (512, 512, 14, 3, 2, 1),
    (1024, 2048, 14, 1, 2, 1),
    (512, 512, 7, 3, 1, 2),
    (512, 2048, 7, 1, 1, 3),
    (2048, 512, 7, 1, 1, 2),
]
CNN = [(3, 32, 32, 3, 1, 0), (32, 64, 32, 3, 1, 0), (64, 128, 32, 3, 1, 0)]
CNN_BATCH = 32


def _label(layer, batch):
    c_in, c_out, size, k, stride, _ = layer
    return f'{batch}x{c_in}x{size}x{size} to {c_out}, {k}x{k} / {stride}'


def _torch_call(x, w, b, stride, pad):
    import torch

    x, w, b = map(torch.from_numpy, (x, w, b))

    def call():
        with torch.inference_mode():
            return torch.nn.functional.conv2d(x, w, b, stride, pad)

    return call


def _onnx_call(threads, x, w, b, stride, pad):
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        [helper.make_node('Conv', ['x', 'w', 'b'], ['y'], pads=[pad] * 4, strides=[stride] * 2)],
        'layer',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, 'w'), numpy_helper.from_array(b, 'b')],
    )
    opset = [helper.make_opsetid('', 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=['CPUExecutionProvider']
    )
    return lambda: session.run(None, {'x': x})[0]


def _chainerx_call(x, w, b, stride, pad):
    import chainerx

    x, w, b = map(chainerx.array, (x, w, b))
    return lambda: chainerx.conv(x, w, b, stride, pad)


def _calls(threads, layer, batch):
    """Returns the calls by the library's name, and the number of multiply-adds."""
    import numpy

    c_in, c_out, size, k, stride, _ = layer
    rng = numpy.random.default_rng(0)
    x, w, b = (
        rng.standard_normal(shape).astype('f')
        for shape in ((batch, c_in, size, size), (c_out, c_in, k, k), c_out)
    )
    arguments = x, w, b, stride, k // 2
    calls = {'ChainerX': _chainerx_call(*arguments)}
    if importlib.util.find_spec('torch'):
        calls['PyTorch'] = _torch_call(*arguments)
    if importlib.util.find_spec('onnxruntime'):
        calls['ONNX Runtime'] = _onnx_call(threads, *arguments)
    results = [numpy.asarray(call()) for call in calls.values()]
    for result in results[1:]:
        numpy.testing.assert_allclose(result, results[0], 1e-3, 1e-3)
    return calls, results[0].size * c_in * k * k


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('text', nargs='*', help='only layers whose label starts with one of these')
    parser.add_argument('--batch', type=int, default=1, help="of ResNet50's layers")
    parser.add_argument('--threads', type=int, default=1, help='threads for every library')
    parser.add_argument('--rounds', type=int, default=20, help='turns that each library gets')
    parser.add_argument('--seconds', type=float, default=0.01, help='least time for one turn')
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = str(args.threads)

    import harness

    clock = time.process_time if args.threads == 1 else time.perf_counter
    harness.print_machine(args.threads)
    rows = []
    sums: dict[str, float] = {}
    layers = [(layer, args.batch) for layer in RESNET50] + [(layer, CNN_BATCH) for layer in CNN]
    for layer, batch in layers:
        label = _label(layer, batch)
        if args.text and not label.startswith(tuple(args.text)):
            continue
        calls, work = _calls(args.threads, layer, batch)
        timers = {name: timeit.Timer(call, timer=clock) for name, call in calls.items()}
        times = harness.measure(timers, args.rounds, args.seconds, min)
        for name, seconds in times.items():
            sums[name] = sums.get(name, 0) + seconds * layer[-1]
        cells = [f'{harness.format_time(t)} ({work / t / 1e9:.1f})' for t in times.values()]
        rows.append([label, *cells])
        print('measured', *rows[-1], file=sys.stderr)
    if not args.text:
        rows.append(['ResNet50', *map(harness.format_time, sums.values())])
    harness.print_table(['layer', *sums], rows)


if __name__ == '__main__':
    sys.exit(main())
