"""The operators of ``ai.onnx.ml``: against ONNX Runtime, and nodes that are broken."""

import numpy as np
import pytest

onnxruntime = pytest.importorskip('onnxruntime')
pytest.importorskip('onnx')
from onnx import numpy_helper  # noqa: E402
from onnx_chainer_tests.classical_rows import ROWS, Row  # noqa: E402
from onnx_chainer_tests.helpers_of_import import helper, info, model_of  # noqa: E402

ML = 'ai.onnx.ml'


def file_of(row):
    """The bytes of a model of one node."""
    attributes = {
        k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
        for k, v in row.attributes.items()
    }
    names = [f'x{i}' for i in range(len(row.inputs))]
    outputs = [f'y{i}' for i in range(row.outputs)]
    node = helper.make_node(row.op, names, outputs, domain=ML, **attributes)
    infos = [info(n, x.shape, x.dtype) for n, x in zip(names, row.inputs)]
    return model_of([node], infos, outputs, domains=[(ML, row.version)]).SerializeToString()


def expected_of(data, inputs):
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(data, providers=['CPUExecutionProvider'])
    return session.run(None, {f'x{i}': x for i, x in enumerate(inputs)})


def check(actual, expected):
    if isinstance(expected, list):  # of maps
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert a == pytest.approx(e, rel=1e-5)
        return
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    if expected.dtype.kind in 'OU':
        assert actual.tolist() == expected.tolist()
    else:
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=1e-5)


# These leave out the transform of one score of two classes.
OLD = tuple(map(int, onnxruntime.__version__.split('.')[:2])) < (1, 24)
LATER = {'1-LOGISTIC', '2-LOGISTIC', '2-base-LOGISTIC'}


@pytest.mark.parametrize('row', ROWS, ids=str)
def test_values(loader, row):
    if OLD and row.op.endswith('Classifier') and row.name in LATER:
        pytest.skip('this version of ONNX Runtime gives the scores')
    data = file_of(row)
    expected = expected_of(data, row.inputs)
    actual = loader.load(data)(*row.inputs)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        check(a, e)


TREE = {
    'nodes_treeids': [0, 0, 0],
    'nodes_nodeids': [0, 1, 2],
    'nodes_featureids': [0, 0, 0],
    'nodes_modes': ['BRANCH_LEQ', 'LEAF', 'LEAF'],
    'nodes_values': [0.5, 0.0, 0.0],
    'nodes_truenodeids': [1, 0, 0],
    'nodes_falsenodeids': [2, 0, 0],
    'target_treeids': [0, 0],
    'target_nodeids': [1, 2],
    'target_ids': [0, 0],
    'target_weights': [1.0, 2.0],
    'n_targets': 1,
}
FLAT_TREE = {
    'tree_roots': [0],
    'nodes_featureids': [0, 1],
    'nodes_modes': np.array([0, 3], 'u1'),
    'nodes_splits': np.array([0.5, 0.0], 'f'),
    'nodes_truenodeids': [1, 1],
    'nodes_trueleafs': [0, 1],
    'nodes_falsenodeids': [0, 2],
    'nodes_falseleafs': [1, 1],
    'leaf_targetids': [0, 1, 0],
    'leaf_weights': np.array([1.0, 2, 4], 'f'),
    'n_targets': 2,
}
SVM = {
    'coefficients': [1.0, 2.0],
    'support_vectors': [1.0, 2.0, 3.0, 4.0],
    'vectors_per_class': [1, 1],
    'rho': [0.5],
    'classlabels_ints': [0, 1],
}
LINEAR = {
    'coefficients': [1.0, 2.0, 3.0, 4.0],
    'intercepts': [0.1, 0.2],
    'classlabels_ints': [0, 1],
}
HUGE = 2**62
BROKEN = [
    *[
        ('TreeEnsembleRegressor', TREE, change)
        for change in (
            {'nodes_truenodeids': [0, 0, 0]},  # a cycle
            {'nodes_truenodeids': [7, 0, 0]},
            {'nodes_truenodeids': [-1, 0, 0]},
            {'nodes_falsenodeids': [HUGE, 0, 0]},
            {'nodes_featureids': [2, 0, 0]},
            {'nodes_featureids': [-1, 0, 0]},
            {'nodes_featureids': [HUGE, 0, 0]},
            {'nodes_featureids': [0, 0]},
            {'nodes_nodeids': [0, 1, 1]},
            {'nodes_treeids': [0, 0]},
            {'nodes_values': [0.5]},
            {'nodes_modes': ['BRANCH_LEQ', 'LEAF', 'BEST']},
            {'nodes_modes': ['LEAF']},
            {'nodes_missing_value_tracks_true': [1]},
            {'target_ids': [0, 1]},
            {'target_ids': [0, -1]},
            {'target_ids': [0, HUGE]},
            {'target_nodeids': [1, 9]},
            {'target_treeids': [0, 9]},
            {'target_weights': [1.0]},
            {'n_targets': -1},
            {'n_targets': HUGE},
            {'base_values': [1.0, 2.0, 3.0]},
            {'aggregate_function': 'BEST'},
            {'post_transform': 'BEST'},
        )
    ],
    *[
        ('TreeEnsemble', FLAT_TREE, change)
        for change in (
            {'nodes_truenodeids': [0, 1]},  # a cycle
            {'nodes_truenodeids': [2, 1]},
            {'nodes_truenodeids': [-1, 1]},
            {'nodes_falsenodeids': [3, 2]},
            {'nodes_trueleafs': [0]},
            {'nodes_featureids': [0, HUGE]},
            {'nodes_modes': np.array([0, 9], 'u1')},
            {'nodes_modes': np.array([0, 6], 'u1')},  # without members
            {'tree_roots': [2]},
            {'tree_roots': [-1]},
            {'leaf_targetids': [0, 1]},
            {'leaf_targetids': [0, 1, 2]},
            {'n_targets': HUGE},
            {'aggregate_function': 4},
            {'post_transform': -1},
        )
    ],
    *[
        ('SVMClassifier', SVM, change)
        for change in (
            {'coefficients': [1.0]},
            {'support_vectors': [1.0, 2.0, 3.0]},
            {'support_vectors': [1.0, 2.0]},
            {'vectors_per_class': [1, -1]},
            {'vectors_per_class': [HUGE, HUGE]},
            {'vectors_per_class': [2]},
            {'rho': []},
            {'prob_a': [1.0]},
            {'classlabels_ints': [0]},
            {'kernel_type': 'BEST'},
            {'post_transform': 'BEST'},
        )
    ],
    *[
        ('LinearClassifier', LINEAR, change)
        for change in (
            {'coefficients': [1.0]},
            {'coefficients': [1.0] * 6},
            {'intercepts': [0.1] * 3},
            {'classlabels_ints': [0]},
            {'post_transform': 'BEST'},
        )
    ],
    ('LinearRegressor', {'coefficients': [1.0, 2.0]}, {'targets': 0}),
    ('LinearRegressor', {'coefficients': [1.0, 2.0]}, {'targets': HUGE}),
    ('SVMRegressor', {'coefficients': [1.0]}, {'n_supports': HUGE, 'support_vectors': [1.0, 2.0]}),
    ('SVMRegressor', {'coefficients': [1.0]}, {'n_supports': -1}),
    ('Scaler', {}, {'offset': [1.0] * 3}),
    ('Normalizer', {}, {'norm': 'L3'}),
    ('Imputer', {}, {}),
    ('Imputer', {}, {'imputed_value_floats': [1.0] * 3}),
    ('FeatureVectorizer', {}, {'inputdimensions': [HUGE]}),
    ('FeatureVectorizer', {}, {'inputdimensions': [-1]}),
    ('FeatureVectorizer', {}, {'inputdimensions': [1, 1]}),
    ('LabelEncoder', {}, {'keys_floats': [1.0], 'values_floats': []}),
    ('LabelEncoder', {}, {}),
    ('CategoryMapper', {}, {'cats_int64s': [1], 'cats_strings': []}),
    ('OneHotEncoder', {}, {}),
    ('OneHotEncoder', {'cats_int64s': [7]}, {'zeros': 0}),
    ('ZipMap', {}, {'classlabels_int64s': [1]}),
]  # fmt: skip


def broken_id(case):
    op, _, change = case
    text = ','.join(f'{k}={np.asarray(v).tolist()}' for k, v in change.items())
    return f'{op}-{text}'


@pytest.mark.parametrize('case', BROKEN, ids=broken_id)
def test_broken_nodes_are_errors(loader, case):
    op, attributes, change = case
    outputs = 2 if op.endswith('Classifier') else 1
    version = {'TreeEnsemble': 5, 'LabelEncoder': 2}.get(op, 1)
    # An empty list is an attribute that is missing.
    given = {k: v for k, v in (attributes | change).items() if np.size(v)}
    row = Row(op, '', [np.ones((3, 2), 'f')], given, outputs, version)
    with pytest.raises(loader.error, match=op):
        loader.load(file_of(row))(*row.inputs)
