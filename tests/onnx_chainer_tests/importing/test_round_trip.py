"""What is exported loads again, and gives the same outputs and gradients."""

import warnings

import numpy as np
import pytest

pytest.importorskip('onnx')

from onnx_chainer_tests import function_table, helpers_of_export  # noqa: E402

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import onnx_chainer  # noqa: E402

ROWS = function_table.ROWS

# Functions whose files compute the same values, and have other gradients somewhere.
OTHER_GRADIENTS = {
    'arctan2': 'the file divides, and has no gradient where both are zero',
    'cholesky': 'the file reads one triangle of a symmetric matrix',
    'erfcx': 'the file joins two formulas at zero',
    'relu6': 'the gradients differ at the end of the range',
}


def gradients(call, arrays):
    """Outputs of a call, and gradients of a random sum of them with respect to the arrays."""
    xs = [chainer.Variable(a.copy()) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        ys = call(*xs)
    ys = ys if isinstance(ys, (tuple, list)) else (ys,)
    random = np.random.RandomState(0)
    total = 0
    for y in ys:
        if isinstance(y, chainer.Variable) and y.dtype.kind == 'f':
            total += F.sum(y * random.uniform(0.5, 1, y.shape).astype(y.dtype))
    if isinstance(total, chainer.Variable) and total.requires_grad:
        with np.errstate(all='ignore'):
            total.backward()
    return [getattr(y, 'array', y) for y in ys], [x.grad for x in xs]


@pytest.mark.parametrize('row', ROWS, ids=[f'{i}-{row.name}' for i, row in enumerate(ROWS)])
def test_function(row):
    opset = min(row.until, helpers_of_export.newest_opset())
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        # Copies, as an array that is given twice is one input.
        exported, inputs, _ = onnx_chainer.export(
            row.call,
            [a.copy() for a in row.args],
            return_named_inout=True,
            opset_version=opset,
            train=row.train,
        )
    model = onnx_chainer.load(exported)
    names = list(inputs)

    def call(*xs):
        return model(**{name: x for name, x in zip(names, xs) if name in model.input_names})

    with chainer.using_config('train', row.train):
        expected, expected_gradients = gradients(row.call, row.args)
    actual, actual_gradients = gradients(call, row.args)
    helpers_of_export.assert_outputs(actual, expected, 5 * row.rtol, 1e-5)
    for name, a, e in zip(names, actual_gradients, expected_gradients):
        if e is None or name not in model.input_names or row.name in OTHER_GRADIENTS:
            continue
        a = np.zeros_like(e) if a is None else a
        tolerance = 2e-2 if e.dtype == np.float16 else 1e-3
        np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance / 10, err_msg=name)


def test_only_parameters_are_parameters():
    scale = np.array([2, 3], np.float32)

    class Scaled(L.Linear):
        def forward(self, x):
            return super().forward(x) * scale

    link = Scaled(3, 2)
    x = np.ones((4, 3), np.float32)
    model = onnx_chainer.load(onnx_chainer.export(link, x))
    assert sorted(p.shape for p in model.params()) == [(2,), (2, 3)]
    np.testing.assert_allclose(model(x).array, link(x).array, rtol=1e-6)
