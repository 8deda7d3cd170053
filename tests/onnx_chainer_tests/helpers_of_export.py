"""Export and run by onnxruntime."""

import functools

import numpy as np

import chainer
import onnx_chainer


@functools.cache
def newest_opset():
    """Newest opset that the installed onnxruntime takes."""
    import onnx
    import onnxruntime

    newest = min(onnx.defs.onnx_opset_version(), onnx_chainer.MAXIMUM_OPSET_VERSION)
    for version in range(newest, 9, -1):
        model = onnx_chainer.export(chainer.functions.relu, np.ones(1, 'f'), opset_version=version)
        try:
            run_onnx(model, {'Input_0': np.ones(1, 'f')})
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
            continue
        return version
    return 9


def run_onnx(model, inputs):
    """Outputs of a model, by onnxruntime."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=['CPUExecutionProvider']
    )
    names = {info.name for info in session.get_inputs()}
    return session.run(None, {k: v for k, v in inputs.items() if k in names})


def op_types(model):
    """Operators of a model, but for constants."""
    return [node.op_type for node in model.graph.node if node.op_type != 'Constant']


def arrays(named):
    return {k: chainer.cuda.to_cpu(chainer.backend.from_chx(v.array)) for k, v in named.items()}


def check(model, args, rtol=1e-5, atol=1e-5, others=(), **options):
    """Exports a model; compares outputs of onnxruntime with ours, also for other arguments."""
    options['opset_version'] = min(options.get('opset_version', 99), newest_opset())
    exported, inputs, outputs = onnx_chainer.export(model, args, return_named_inout=True, **options)
    actual = run_onnx(exported, arrays(inputs))
    assert_outputs(actual, list(arrays(outputs).values()), rtol, atol)
    for other in others:
        _, inputs, outputs = onnx_chainer.export(model, other, return_named_inout=True)
        actual = run_onnx(exported, arrays(inputs))
        assert_outputs(actual, list(arrays(outputs).values()), rtol, atol)
    return exported


def assert_outputs(actual, expected, rtol, atol):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        assert a.dtype == e.dtype
        assert a.shape == e.shape
        wide = np.promote_types(a.dtype, np.float64) if a.dtype.kind == 'f' else a.dtype
        tolerance = (
            {'rtol': max(rtol, 1e-2), 'atol': 1e-2}
            if a.dtype == np.float16
            else {'rtol': rtol, 'atol': atol}
        )
        np.testing.assert_allclose(a.astype(wide), e.astype(wide), **tolerance)
