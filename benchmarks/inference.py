"""Forward passes beside ONNX Runtime and PyTorch: ``python benchmarks/inference.py [MODEL ...]``.

The models are those of the training workloads, ResNet-50 and MobileNetV2, exported by
``onnx_chainer``, and recurrent layers, run by the C++ runner ``chainerx.onnx``. Every model runs in
each engine in turn (A B C A B C), in one process. The table gives medians and ratios to ONNX
Runtime. A second one compares the perceptron and ResNet-18 in 8 bits, as ``quantize_dynamic`` and
``quantize_static`` of ONNX Runtime and ``chainer.quantization`` (QDQ) write them. A third one gives
tokens per second of a language model of 30 million weights, of 32, 8 and 4 bits, and a fourth one
the peak memory of a process that loads and runs ResNet-50.
"""

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile

from exported import RECURRENT, export
from run import THREAD_VARIABLES

# Those of PyTorch, too, and others
TRAINED = 'mlp-tiny', 'mlp', 'cnn', 'gpt', 'resnet18'
MODELS = *TRAINED, 'resnet50', 'mobilenet', *RECURRENT, 'decoder'
# What writes a model in 8 bits, and sizes of the batch
INT8 = {
    'mlp': [('dynamic', 1), ('dynamic', 100), ('QDQ', 1), ('QDQ', 100)],
    'resnet18': [('static', 1), ('QDQ', 1)],
}
# Bits of the weights of language models, and the accuracy level of the products
FORMS = {'float32': (32, 0), 'int8': (8, 0), 'int4': (4, 0), 'int4, inputs in 8 bits': (4, 4)}
ENGINES = {'onnxruntime': 'ONNX Runtime', 'torch': 'PyTorch', 'chainerx': 'chainerx.onnx'}


def runner(engine, name, path, x, threads):
    """Returns a function without arguments that does a forward pass, or ``None``."""
    if engine == 'onnxruntime':
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, ['CPUExecutionProvider'])
        feed = {session.get_inputs()[0].name: x}
        return lambda: session.run(None, feed)[0]
    if engine == 'chainerx':
        import chainerx
        import chainerx.onnx

        model = chainerx.onnx.load(path)
        array = chainerx.array(x)
        return lambda: chainerx.to_numpy(model(array), copy=False)
    if name not in TRAINED or importlib.util.find_spec('torch') is None:
        return None
    import torch
    from workloads import WORKLOADS

    torch.set_num_threads(threads)
    module, array, _ = WORKLOADS[name].torch_parts()
    module.eval()

    def run():
        with torch.inference_mode():
            return module(array).numpy()

    return run


def time_interleaved(runs, rounds, seconds):
    """Returns the medians of functions by name."""
    import timeit

    import harness

    return harness.measure({name: timeit.Timer(run) for name, run in runs.items()}, rounds, seconds)


def compare(name, rounds, seconds, threads):
    """Times the engines, and returns a row of the table."""
    import harness
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        x = export(name, path)
        runs = {engine: runner(engine, name, path, x, threads) for engine in ENGINES}
    runs = {engine: run for engine, run in runs.items() if run is not None}
    expected = runs['onnxruntime']()
    np.testing.assert_allclose(runs['chainerx'](), expected, rtol=1e-3, atol=1e-4)
    times = time_interleaved(runs, rounds, seconds)
    unit = times['onnxruntime']
    return [
        name,
        *(
            f'{harness.format_time(times[e])} ({times[e] / unit:.2f}x)' if e in times else '-'
            for e in ENGINES
        ),
    ]


def write_static(path, x, small):
    """Lets ONNX Runtime quantize a file whose activations have the ranges of an input."""
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.feeds = iter([{'Input_0': x}])

        def get_next(self):
            return next(self.feeds, None)

    quant_pre_process(path, path, skip_symbolic_shape=True)  # folds batch normalization
    quantize_static(path, small, Reader(), per_channel=True)


def write_int8(form, model, x, path, small):
    """Writes a model as a file, and as one in 8 bits."""
    from onnxruntime.quantization import quantize_dynamic

    import onnx_chainer
    from chainer import quantization

    onnx_chainer.export(model, x, filename=path, opset_version=17)
    if form == 'dynamic':
        quantize_dynamic(path, small)
    elif form == 'static':
        write_static(path, x, small)
    else:
        quantized = quantization.quantize(model, quantization.calibrate(model, [x]))
        onnx_chainer.export(quantized, x, filename=small)


def compare_int8(name, form, batch, rounds, seconds, threads):
    """Times a model in 8 bits, and returns a row of the table."""
    import harness
    import numpy as np
    from workloads import WORKLOADS

    import chainer

    model, x, _ = WORKLOADS[name].chainer_parts('@numpy')
    x = x[:batch]
    with tempfile.TemporaryDirectory() as folder:
        path, small = (os.path.join(folder, name) for name in ('model.onnx', 'int8.onnx'))
        with chainer.using_config('train', False):
            write_int8(form, model, x, path, small)
        runs = {
            'onnxruntime': runner('onnxruntime', name, small, x, threads),
            'float32': runner('chainerx', name, path, x, threads),
            'chainerx': runner('chainerx', name, small, x, threads),
        }
    # Not to one another: without VNNI, some products of ONNX Runtime saturate.
    exact = runs['float32']()
    for engine in 'onnxruntime', 'chainerx':
        np.testing.assert_allclose(runs[engine](), exact, atol=0.1 * abs(exact).max())
    times = time_interleaved(runs, rounds, seconds)
    ours = times['chainerx']
    return [
        f'{name}, {form}, batch {batch}',
        *map(harness.format_time, times.values()),
        *(f'{ours / times[each]:.2f}x' for each in ('onnxruntime', 'float32')),
    ]


def decoder_runner(engine, path, feeds, threads):
    """Returns a function without arguments that makes a token, and gives its scores."""
    if engine == 'onnxruntime':
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, ['CPUExecutionProvider'])
        return lambda: session.run(None, feeds)[0]
    import chainerx
    import chainerx.onnx

    model = chainerx.onnx.load(path)
    arrays = [chainerx.array(feeds[name]) for name in model.input_names]
    return lambda: chainerx.to_numpy(model.run(arrays)[0], copy=False)


def decoder_rows(name, rounds, seconds, threads):
    """Times a language model, and returns rows of the table."""
    import decoder
    import numpy as np

    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        for form, (bits, level) in FORMS.items():
            feeds = decoder.write(path, decoder.SIZES[name], bits, level)
            for engine in 'onnxruntime', 'chainerx':
                runs[form, engine] = decoder_runner(engine, path, feeds, threads)
    for form in FORMS:
        ours, expected = runs[form, 'chainerx'](), runs[form, 'onnxruntime']()
        np.testing.assert_allclose(ours, expected, atol=0.02 * abs(expected).max())
    times = time_interleaved(runs, rounds, seconds)
    for form in FORMS:
        theirs, ours = times[form, 'onnxruntime'], times[form, 'chainerx']
        yield [
            f'{name}, {form}',
            *(f'{1 / each:.0f}' for each in (theirs, ours)),
            *(f'{each / ours:.2f}x' for each in (theirs, times['float32', 'chainerx'])),
        ]


def peak_memory():
    """Returns the peak of this process in MiB; that of ``getrusage`` includes its parent's."""
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024


def print_peak(engine, path):
    """Prints the peak memory in MiB that loading and running a file adds to the process."""
    import numpy as np

    x = np.zeros((1, 3, 224, 224), 'f')
    importlib.import_module(engine)
    before = peak_memory()
    run = runner(engine, 'resnet50', path, x, 1)
    for _ in range(3):
        run()
    print(peak_memory() - before)


def memory_rows():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        export('resnet50', path)
        for engine in 'onnxruntime', 'chainerx':
            command = [sys.executable, os.path.abspath(__file__), '--peak-of', engine, path]
            peak = float(subprocess.run(command, check=True, capture_output=True).stdout)
            yield [ENGINES[engine], f'{peak:.0f} MiB']


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('model', nargs='*', default=MODELS, help=f'any of {", ".join(MODELS)}')
    parser.add_argument('--threads', type=int, default=1, help='threads for every engine')
    parser.add_argument('--rounds', type=int, default=15, help='number of turns per engine')
    parser.add_argument('--seconds', type=float, default=0.1, help='minimum time of one turn')
    parser.add_argument('--no-memory', action='store_true', help='omit the table of peak memory')
    parser.add_argument('--peak-of', nargs=2, metavar=('ENGINE', 'FILE'), help=argparse.SUPPRESS)
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = str(args.threads)

    import harness

    if args.peak_of:
        print_peak(*args.peak_of)
        return
    harness.print_machine(args.threads)
    decoders = [name for name in args.model if name.startswith('decoder')]
    args.model = [name for name in args.model if name not in decoders]
    rows = [compare(name, args.rounds, args.seconds, args.threads) for name in args.model]
    if rows:
        harness.print_table(['forward', *ENGINES.values()], rows)
    rows = [
        compare_int8(name, form, n, args.rounds, args.seconds, args.threads)
        for name in args.model
        for form, n in INT8.get(name, [])
    ]
    if rows:
        engines = 'ONNX Runtime', 'chainerx.onnx in float32', 'chainerx.onnx'
        harness.print_table(['int8', *engines, 'to ONNX Runtime', 'to float32'], rows)
    for name in decoders:
        rows = [*decoder_rows(name, args.rounds, args.seconds, args.threads)]
        head = 'ONNX Runtime', 'chainerx.onnx', 'to ONNX Runtime', 'to float32'
        harness.print_table(['tokens per second', *head], rows)
    if 'resnet50' in args.model and not args.no_memory:
        harness.print_table(['resnet50', 'peak memory added'], list(memory_rows()))


if __name__ == '__main__':
    sys.exit(main())
