"""Every way to mix slices, numbers, arrays, new axes and an ellipsis in an index."""

import itertools

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer.functions as F
import onnx_chainer

X = np.arange(2 * 3 * 4 * 5, dtype='f').reshape(2, 3, 4, 5)
PARTS = {
    'slice': slice(1, None),
    'number': -1,
    'list': [0, 1],
    'array': np.array([[1], [0]]),
    'new': None,
    'ellipsis': Ellipsis,
}


def _indices():
    for n in 1, 2, 3, 4:
        for kinds in itertools.product(PARTS, repeat=n):
            if kinds.count('ellipsis') > 1 or kinds.count('new') > 2:
                continue
            yield '-'.join(kinds), tuple(PARTS[kind] for kind in kinds)


INDICES = dict(_indices())
GROUPS = np.array_split(np.array(sorted(INDICES)), 8)


@pytest.mark.parametrize('group', range(8))
def test_numpy_agrees(group):
    """One model has many indices: a session of onnxruntime takes long to start."""
    names = GROUPS[group]
    indices = [INDICES[name] for name in names]
    model, inputs, outputs = onnx_chainer.export(
        lambda x: tuple([F.get_item(x, index) for index in indices]),
        X,
        return_named_inout=True,
        opset_version=17,
    )
    actual = helpers_of_export.run_onnx(model, helpers_of_export.arrays(inputs))
    assert len(names) > 100
    for name, index, y in zip(names, indices, actual):
        np.testing.assert_array_equal(y, X[index], err_msg=name)


@pytest.mark.parametrize('opset', [9, 13, 17])
def test_index_that_is_an_input(opset):
    helpers_of_export.check(
        lambda x, i: F.get_item(x, (None, i, slice(None), 1)),
        [X, np.array([1, 0, 1], 'i')],
        others=[[X, np.array([0, 0, 1], 'i')]],
        opset_version=opset,
    )


@pytest.mark.parametrize('opset', [11, 17])
def test_dynamic_axes(opset):
    helpers_of_export.check(
        lambda x: x[None, :, [0, 1], :, -1][:, 1:],
        X,
        others=[np.concatenate([X, X])],
        input_shapes=('n', 3, 4, 5),
        opset_version=opset,
    )
