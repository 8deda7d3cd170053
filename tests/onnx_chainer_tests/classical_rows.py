"""Nodes of ``ai.onnx.ml`` whose results ONNX Runtime gives, too."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

RNG = np.random.RandomState(0)
TRANSFORMS = 'NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'


@dataclasses.dataclass
class Row:
    """A node with its inputs."""

    op: str
    name: str
    inputs: list[np.ndarray]
    attributes: dict[str, Any]
    outputs: int
    version: int

    def __str__(self):
        return f'{self.op}-{self.name}'


ROWS: list[Row] = []


def row(op, name, *inputs, outputs=1, version=1, **attributes):
    ROWS.append(Row(op, name, list(inputs), attributes, outputs, version))


def real(*shape, dtype=np.float32):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def text(*values):
    return np.array(values, object)


# -- features ------------------------------------------------------------------------------------

X = real(5, 3)
DTYPES = [np.dtype(name) for name in ('float32', 'float64', 'int32', 'int64')]
for dtype in DTYPES:
    x = (X * 4).astype(dtype)
    row('Scaler', f'each-{dtype}', x, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, -1.0])
    row('Normalizer', f'L2-{dtype}', x, norm='L2')
    row(
        'LinearRegressor',
        str(dtype),
        x.astype('f'),
        coefficients=[1.0, -2.0, 0.5],
        intercepts=[0.1],
    )
row('Scaler', 'one', X, offset=[0.5], scale=[2.0])
for norm in 'L1', 'L2':
    row('Normalizer', norm, X, norm=norm)
    row('Normalizer', f'{norm}-zero', np.zeros((2, 3), 'f'), norm=norm)
row('Normalizer', 'MAX', abs(X), norm='MAX')
row('Binarizer', 'threshold', X, threshold=0.25)
NAN = np.where(X > 0.4, np.float32(np.nan), X)
row('Imputer', 'nan', NAN, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float('nan'))
row('Imputer', 'one', NAN, imputed_value_floats=[7.0], replaced_value_float=float('nan'))
row('Imputer', 'zero', np.array([[0, 1.5], [2, 0]], 'f'), imputed_value_floats=[5.0, 6.0])
row(
    'Imputer',
    'integers',
    np.array([[-1, 1], [2, -1]]),
    imputed_value_int64s=[5],
    replaced_value_int64=-1,
)
row('FeatureVectorizer', 'same', X, real(5, 2), inputdimensions=[3, 2])
row('ArrayFeatureExtractor', 'matrix', X, np.array([2, 0]))
row('ArrayFeatureExtractor', 'vector', X[0], np.array([[1]]))
row('ArrayFeatureExtractor', 'strings', text('a', 'b', 'c'), np.array([2, 0, 2]))

# -- categories ----------------------------------------------------------------------------------

WORDS = text('b', 'a', 'z', 'b').reshape(2, 2)
KEYS = {
    'strings': WORDS,
    'int64s': np.array([[1, 2], [9, 1]]),
    'floats': np.array([[1, 2.5], [9, 1]], 'f'),
}
TABLES = {'strings': ['a', 'b', ''], 'int64s': [1, 2, 3], 'floats': [1.0, 2.5, 4.0]}
for keys, x in KEYS.items():
    for values, table in TABLES.items():
        attributes = {f'keys_{keys}': TABLES[keys], f'values_{values}': table}
        row('LabelEncoder', f'{keys}-{values}', x, version=2, **attributes)
row('LabelEncoder', 'first-strings', WORDS, classes_strings=['a', 'b'], default_int64=7)
row('LabelEncoder', 'first-integers', np.array([1, 0, 5]), classes_strings=['a', 'b'])
CATEGORIES = {'cats_int64s': [3, 5], 'cats_strings': ['a', 'b']}
row('CategoryMapper', 'strings', WORDS, default_int64=-7, **CATEGORIES)
row('CategoryMapper', 'integers', np.array([5, 4, 3]), default_string='?', **CATEGORIES)
row('OneHotEncoder', 'strings', WORDS, cats_strings=['a', 'b', 'c'])
row('OneHotEncoder', 'integers', np.array([[5], [4]]), cats_int64s=[3, 4, 5])
row('OneHotEncoder', 'floats', np.array([5.0, 4.5, 9], 'f'), cats_int64s=[3, 4, 5])
row('ZipMap', 'integers', X, classlabels_int64s=[4, 5, 6])
row('ZipMap', 'strings', X, classlabels_strings=['a', 'b', 'c'])

# -- linear models -------------------------------------------------------------------------------

for transform in TRANSFORMS:
    # Between zero and one, where there is a probit.
    attributes = {
        'coefficients': [0.1, 0.2, 0.1, 0.05, 0.1, 0.1],
        'intercepts': [0.4, 0.5],
        'post_transform': transform,
    }
    row('LinearRegressor', transform, abs(X), targets=2, **attributes)
    row(
        'LinearClassifier',
        f'2-{transform}',
        abs(X),
        outputs=2,
        classlabels_ints=[4, 9],
        **attributes,
    )
    if transform != 'PROBIT':  # ONNX Runtime reads what is not there
        attributes |= {'coefficients': [0.3, -0.5, 0.7], 'intercepts': [0.1]}
        row(
            'LinearClassifier',
            f'1-{transform}',
            X,
            outputs=2,
            classlabels_strings=['no', 'yes'],
            **attributes,
        )
row('LinearClassifier', 'no-labels', X, outputs=2, coefficients=[0.3, -0.5, 0.7], intercepts=[0.1])
row(
    'LinearClassifier',
    'double',
    X.astype('d'),
    outputs=2,
    coefficients=real(9).tolist(),
    intercepts=[0.1, 0.2, -0.1],
    classlabels_ints=[1, 2, 3],
)

# -- support vectors -----------------------------------------------------------------------------

KERNELS = {
    'LINEAR': [0.0, 0.0, 0.0],
    'POLY': [0.5, 0.3, 3.0],
    'RBF': [0.7, 0.0, 0.0],
    'SIGMOID': [0.4, 0.1, 0.0],
}
for kernel, parameters in KERNELS.items():
    common = {'kernel_type': kernel, 'kernel_params': parameters}
    row(
        'SVMRegressor',
        kernel,
        X,
        coefficients=real(4).tolist(),
        support_vectors=real(12).tolist(),
        n_supports=4,
        rho=[0.2],
        **common,
    )
    common |= {'support_vectors': real(18).tolist()}
    three = {
        'coefficients': real(12).tolist(),
        'vectors_per_class': [1, 3, 2],
        'rho': [0.1, -0.2, 0.05],
        **common,
    }
    two = {'coefficients': real(6).tolist(), 'vectors_per_class': [4, 2], 'rho': [0.1], **common}
    row('SVMClassifier', f'3-{kernel}', X, outputs=2, classlabels_ints=[5, 6, 8], **three)
    row('SVMClassifier', f'2-{kernel}', X, outputs=2, classlabels_strings=['a', 'b'], **two)
    row(
        'SVMClassifier',
        f'3p-{kernel}',
        X,
        outputs=2,
        classlabels_ints=[5, 6, 8],
        prob_a=[-1.0, -2.0, -0.5],
        prob_b=[0.1, 0.2, 0.3],
        **three,
    )
    row(
        'SVMClassifier',
        f'2p-{kernel}',
        X,
        outputs=2,
        classlabels_ints=[5, 6],
        prob_a=[-1.0],
        prob_b=[0.1],
        **two,
    )
for transform in TRANSFORMS[:4]:
    row(
        'SVMClassifier',
        f'3-{transform}',
        X,
        outputs=2,
        classlabels_ints=[5, 6, 8],
        **(three | {'post_transform': transform}),
    )
    if not transform.startswith('SOFTMAX'):  # of one score, where ONNX Runtime has its own idea
        row(
            'SVMClassifier',
            f'2-{transform}',
            X,
            outputs=2,
            classlabels_ints=[5, 6],
            **(two | {'post_transform': transform}),
        )
    row(
        'SVMClassifier',
        f'linear-{transform}',
        X,
        outputs=2,
        classlabels_ints=[5, 6, 8],
        coefficients=real(9).tolist(),
        rho=[0.3],
        kernel_params=[0.0] * 3,
        post_transform=transform,
    )
row(
    'SVMRegressor',
    'one-class',
    X,
    coefficients=real(4).tolist(),
    support_vectors=real(12).tolist(),
    n_supports=4,
    rho=[0.2],
    one_class=1,
    kernel_params=[0.0] * 3,
)
row(
    'SVMRegressor',
    'RBF of features of unlike sizes',
    np.array([[3e8, 0.1, 0.7], [3e8, 0.4, -0.3]], 'f'),
    coefficients=[1.0, -2.0],
    support_vectors=[3e8, 0.3, 0.2, 3e8, -0.6, 0.9],
    n_supports=2,
    rho=[0.2],
    kernel_type='RBF',
    kernel_params=[0.5, 0.0, 0.0],
)
row('SVMRegressor', 'linear', X, coefficients=real(3).tolist(), rho=[0.2], kernel_params=[0.0] * 3)

# -- trees ---------------------------------------------------------------------------------------

MODES = 'LEQ', 'LT', 'GTE', 'GT', 'EQ', 'NEQ'
GRID = np.array([[a, b] for a in (-1, 0, 0.5, 2, np.nan) for b in (0, 1, np.nan)], 'f')


def forest(mode, missing):
    """Two trees of three and one decisions, and the tree and number of each of their leaves."""
    branch = f'BRANCH_{mode}'
    nodes = {
        'nodes_treeids': [0, 0, 0, 0, 0, 0, 0, 1, 1, 1],
        'nodes_nodeids': [0, 1, 2, 3, 4, 5, 6, 0, 1, 2],
        'nodes_featureids': [0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        'nodes_modes': [branch, *['LEAF', branch] * 2, 'LEAF', 'LEAF', branch, 'LEAF', 'LEAF'],
        'nodes_values': [0.5, 0, 1.0, 0, -1.0, 0, 0, 0.0, 0, 0],
        'nodes_truenodeids': [1, 0, 3, 0, 5, 0, 0, 1, 0, 0],
        'nodes_falsenodeids': [2, 0, 4, 0, 6, 0, 0, 2, 0, 0],
        'nodes_missing_value_tracks_true': [missing] * 10,
    }
    return nodes, [(0, 1), (0, 3), (0, 5), (0, 6), (1, 1), (1, 2)]


def weighted(kind, leaves, ids, weights):
    """The weights of leaves: for each leaf one of each class or target."""
    places = [place for place in leaves for _ in ids]
    return {
        f'{kind}_treeids': [tree for tree, _ in places],
        f'{kind}_nodeids': [number for _, number in places],
        f'{kind}_ids': list(ids) * len(leaves),
        f'{kind}_weights': weights[: len(places)],
    }


WEIGHTS = abs(real(18)).tolist()
for mode in MODES:
    for missing in 0, 1:
        nodes, leaves = forest(mode, missing)
        row(
            'TreeEnsembleRegressor',
            f'{mode}-{missing}',
            GRID,
            n_targets=1,
            **nodes,
            **weighted('target', leaves, [0], WEIGHTS),
        )
nodes, leaves = forest('LEQ', 0)
for aggregate in 'SUM', 'AVERAGE', 'MIN', 'MAX':
    targets = weighted('target', leaves, [0, 1, 2], WEIGHTS)
    row(
        'TreeEnsembleRegressor',
        aggregate,
        GRID,
        n_targets=3,
        aggregate_function=aggregate,
        base_values=[0.5, 1.0, -1.0],
        **nodes,
        **targets,
    )
for transform in TRANSFORMS[:4]:
    targets = weighted('target', leaves, [0, 1], WEIGHTS)
    row(
        'TreeEnsembleRegressor',
        transform,
        GRID,
        n_targets=2,
        post_transform=transform,
        **nodes,
        **targets,
    )
    for name, ids, labels, weights, base in (
        ('3', [0, 1, 2], [4, 5, 9], WEIGHTS, {}),
        ('3-base', [0, 1, 2], [4, 5, 9], WEIGHTS, {'base_values': [0.1, 0.9, -0.4]}),
        ('3-of-2', [0, 2], [4, 5, 9], WEIGHTS, {}),
        ('2', [0], [4, 5], WEIGHTS, {}),
        ('2-mixed', [0], [4, 5], real(6).tolist(), {}),
        ('2-base', [0], [4, 5], WEIGHTS, {'base_values': [-0.2]}),
        ('2-second', [1], [4, 5], WEIGHTS, {}),
        ('1', [0], [4], WEIGHTS, {}),
    ):
        if (name, transform) == ('1', 'LOGISTIC'):
            continue  # ONNX Runtime leaves it out
        row(
            'TreeEnsembleClassifier',
            f'{name}-{transform}',
            GRID,
            outputs=2,
            classlabels_int64s=labels,
            post_transform=transform,
            **base,
            **nodes,
            **weighted('class', leaves, ids, weights),
        )
row(
    'TreeEnsembleClassifier',
    'strings',
    GRID,
    outputs=2,
    classlabels_strings=['a', 'b', 'c'],
    **nodes,
    **weighted('class', leaves, [0, 1, 2], WEIGHTS),
)
DOUBLES = {
    'nodes_values_as_tensor': np.array(nodes['nodes_values']),
    'target_weights_as_tensor': np.array(WEIGHTS[:6]),
}
without = {
    k: v
    for k, v in (nodes | weighted('target', leaves, [0], WEIGHTS)).items()
    if k not in ('nodes_values', 'target_weights')
}
row(
    'TreeEnsembleRegressor',
    'tensors',
    GRID.astype('d'),
    n_targets=1,
    version=3,
    **without,
    **DOUBLES,
)

# Numbers of nodes are places here, and leaves are apart.
for dtype in 'f', 'd':
    for aggregate in range(4):
        row(
            'TreeEnsemble',
            f'{aggregate}-{dtype}',
            GRID.astype(dtype),
            version=5,
            n_targets=2,
            aggregate_function=aggregate,
            tree_roots=[0, 2],
            nodes_featureids=[0, 1, 1],
            nodes_modes=np.array([0, 3, 1], 'u1'),
            nodes_splits=np.array([0.5, 0.0, 1.0], dtype),
            nodes_truenodeids=[1, 1, 0],
            nodes_trueleafs=[0, 1, 1],
            nodes_falsenodeids=[0, 2, 3],
            nodes_falseleafs=[1, 1, 1],
            leaf_targetids=[0, 1, 0, 1],
            leaf_weights=np.array([1.0, 2, 4, -8], dtype),
            nodes_missing_value_tracks_true=[1, 0, 1],
        )
row(
    'TreeEnsemble',
    'members',
    np.array([[1], [2], [3], [5], [np.nan]], 'f'),
    version=5,
    n_targets=1,
    tree_roots=[0],
    nodes_featureids=[0, 0],
    nodes_modes=np.array([6, 6], 'u1'),
    nodes_splits=np.zeros(2, 'f'),
    nodes_truenodeids=[0, 1],
    nodes_trueleafs=[1, 1],
    nodes_falsenodeids=[1, 2],
    nodes_falseleafs=[0, 1],
    leaf_targetids=[0, 0, 0],
    leaf_weights=np.array([1.0, 2, 4], 'f'),
    membership_values=np.array([1, 2, np.nan, 3, np.nan], 'f'),
)
