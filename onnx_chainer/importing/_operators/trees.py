"""Ensembles of decision trees."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np

from ..registry import HOST, operator
from .features import ML
from .scores import TRANSFORMS, labels_of, matrix, of_two_classes, transformed

# In the order of the numbers that newer operators give them.
_COMPARISONS = {
    'BRANCH_LEQ': np.less_equal,
    'BRANCH_LT': np.less,
    'BRANCH_GTE': np.greater_equal,
    'BRANCH_GT': np.greater,
    'BRANCH_EQ': np.equal,
    'BRANCH_NEQ': np.not_equal,
}
_MEMBER, _LEAF = 6, 7
_AGGREGATES = ('AVERAGE', 'SUM', 'MIN', 'MAX')


class _Ensemble:
    """Trees whose nodes are rows of arrays, and the weights of their leaves.

    Attributes:
        modes: Places in the table of comparisons; those of leaves and sets of members are others.
        features: The feature that a node looks at.
        splits: What it compares this with.
        yes: The next node if the comparison holds.
        no: The next node otherwise.
        missing: Whether any comparison holds for NaN.
        roots: The first nodes of the trees.
        members: For nodes that look for members, the sets.
        leaves: Of each weight, its leaf, in ascending order.
        targets: Of each weight, its class or target.
        weights: The weights.
    """

    def __init__(self, *nodes, roots, members, leaves, targets, weights):
        arrays = [np.asarray(each) for each in nodes]
        self.modes, self.features, self.splits, self.yes, self.no, self.missing = arrays
        if {len(each) for each in arrays} != {len(self.modes)}:
            raise ValueError('the attributes of the nodes differ in their lengths')
        self.roots, self.members = np.asarray(roots), members
        inner = self.modes != _LEAF
        for places in self.roots, self.yes[inner], self.no[inner], np.asarray(leaves):
            if ((places < 0) | (places >= len(self.modes))).any():
                raise ValueError('a tree has a node that is not there')
        if (self.features[inner] < 0).any():
            raise ValueError('a node has a negative feature')
        self._refuse_cycles(inner)
        order = np.argsort(leaves, kind='stable')
        self.leaves = np.asarray(leaves, np.int64)[order]
        self.targets = np.asarray(targets, np.int64)[order]
        self.weights = np.asarray(weights, np.float64)[order]

    def _refuse_cycles(self, inner):
        places, children = np.flatnonzero(inner), np.stack((self.yes, self.no), axis=1)[inner]
        if (children > places[:, None]).all():
            return  # each comes before those that it leads to
        try:
            TopologicalSorter(dict(zip(places.tolist(), children.tolist()))).prepare()
        except CycleError as error:
            raise ValueError('a tree has a cycle') from error

    def reached(self, x):
        """The leaves (rows, trees) that rows of features reach."""
        if self.features.max(initial=-1, where=self.modes != _LEAF) >= x.shape[1]:
            raise ValueError(f'there are {x.shape[1]} features, and a node looks at another one')
        place = np.tile(self.roots, (len(x), 1))
        while True:
            rows, trees = np.nonzero(self.modes[place] != _LEAF)
            if not len(rows):
                return place
            here = place[rows, trees]
            holds = self._holds(here, x[rows, self.features[here]])
            place[rows, trees] = np.where(holds, self.yes[here], self.no[here])

    def _holds(self, nodes, values):
        modes, splits = self.modes[nodes], self.splits[nodes]
        comparisons = [compare(values, splits) for compare in _COMPARISONS.values()]
        holds = np.select([modes == i for i in range(len(comparisons))], comparisons).astype(bool)
        for i in np.flatnonzero(modes == _MEMBER):
            holds[i] = values[i].item() in self.members[int(nodes[i])]
        return holds | (np.isnan(values) & (self.missing[nodes] != 0))

    def scores(self, x, count, aggregate):
        """Scores (rows, targets) in float64, and how many weights each is of."""
        if ((self.targets < 0) | (self.targets >= count)).any():
            raise ValueError(f'a leaf has a target that is not below {count}')
        leaves = self.reached(x)
        begin, end = (np.searchsorted(self.leaves, leaves.ravel(), s) for s in ('left', 'right'))
        sizes = end - begin
        rows = np.repeat(np.repeat(np.arange(len(x)), len(self.roots)), sizes)
        # begin, begin + 1, ... of each leaf
        places = np.arange(sizes.sum()) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
        where = rows, self.targets[places]
        number = np.zeros((len(x), count), np.int64)
        np.add.at(number, where, 1)
        join, start = {'MIN': (np.minimum, np.inf), 'MAX': (np.maximum, -np.inf)}.get(
            aggregate, (np.add, 0.0)
        )
        scores = np.full((len(x), count), start)
        join.at(scores, where, self.weights[places])
        scores[number == 0] = 0
        return scores / len(self.roots) if aggregate == 'AVERAGE' else scores, number


@operator('TreeEnsemble', takes=HOST, domain=ML)
def tree_ensemble(x, *, aggregate_function, n_targets, post_transform, **attributes):
    ensemble = _of_lists(attributes)
    scores, _ = ensemble.scores(x, n_targets or 1, _AGGREGATES[aggregate_function])
    return transformed(scores, list(TRANSFORMS)[post_transform]).astype(x.dtype)


def _of_lists(attributes):
    """The ensemble of attributes that name nodes by their places in lists."""
    modes, leaves = attributes['nodes_modes'], len(attributes['leaf_weights'])
    size = len(modes)
    tracks = attributes['nodes_missing_value_tracks_true'] or [0] * size
    if any(not 0 <= root < size for root in attributes['tree_roots']) or (modes > _MEMBER).any():
        raise ValueError('there is no node or no mode of that number')
    following = [
        _behind(attributes[f'nodes_{side}leafs'], attributes[f'nodes_{side}nodeids'], size, leaves)
        for side in ('true', 'false')
    ]
    nodes = attributes['nodes_featureids'], attributes['nodes_splits'], *following, tracks
    return _Ensemble(
        # The leaves are nodes behind the others.
        np.pad(modes.astype(np.int64), (0, leaves), constant_values=_LEAF),
        *(np.pad(each, (0, leaves)) for each in nodes),
        roots=np.array(attributes['tree_roots'], np.int64),
        members=_sets(attributes['membership_values'], np.flatnonzero(modes == _MEMBER)),
        leaves=size + np.arange(leaves),
        targets=attributes['leaf_targetids'],
        weights=attributes['leaf_weights'],
    )


def _behind(is_leaf, places, size, leaves):
    """Places of nodes, and of leaves if they are behind ``size`` nodes."""
    is_leaf, places = np.asarray(is_leaf) != 0, np.asarray(places)
    if len(is_leaf) != len(places) or len(places) != size:
        raise ValueError('the attributes of the nodes differ in their lengths')
    if ((places < 0) | (places >= np.where(is_leaf, leaves, size))).any():
        raise ValueError('a tree has a node that is not there')
    return np.where(is_leaf, places + size, places)


def _sets(values, places):
    """The sets of members of the nodes of some places; sets end with NaN."""
    sets: list[set[float]] = [set()]
    for value in () if values is None else values.ravel().tolist():
        if value == value:
            sets[-1].add(value)
        else:
            sets.append(set())
    if len(places) >= len(sets) and len(places):
        raise ValueError(f'there are {len(sets) - 1} sets of members for {len(places)} nodes')
    return dict(zip(places.tolist(), sets))


def _numbers(attributes, name):
    """An attribute that is a list, or a tensor of another name."""
    tensor = attributes.get(f'{name}_as_tensor')
    values = attributes.get(name) if tensor is None else tensor
    return np.array([] if values is None else values).ravel()


def _of_table(attributes, kind):
    """The ensemble of attributes that name nodes by a tree and a number in it."""

    def integers(name):
        return np.array(attributes[name] or [], np.int64)

    mode_of = {name: i for i, name in enumerate(_COMPARISONS)} | {'LEAF': _LEAF}
    modes = np.array([mode_of[name] for name in attributes['nodes_modes'] or []], np.int64)
    ids = [integers(f'nodes_{name}ids') for name in ('tree', 'node', 'truenode', 'falsenode')]
    trees, numbers, *following = ids
    if {len(each) for each in ids} != {len(modes)} or not len(modes):
        raise ValueError('there are no nodes, or their attributes differ in their lengths')
    place_of = _finder(trees, numbers)
    _, roots = np.unique(trees, return_index=True)
    return _Ensemble(
        modes,
        integers('nodes_featureids'),
        _numbers(attributes, 'nodes_values'),
        *(np.where(modes != _LEAF, place_of(trees, each), 0) for each in following),
        np.array(attributes['nodes_missing_value_tracks_true'] or [0] * len(trees), np.int64),
        roots=roots,
        members={},
        leaves=place_of(*(integers(f'{kind}_{name}') for name in ('treeids', 'nodeids'))),
        targets=attributes[f'{kind}_ids'],
        weights=_numbers(attributes, f'{kind}_weights'),
    )


def _finder(trees, numbers):
    """A function that gives the places of nodes by their trees and numbers, -1 for none."""
    places = {key: i for i, key in enumerate(zip(trees.tolist(), numbers.tolist()))}
    if len(places) < len(trees):
        raise ValueError('two nodes have one number')

    def find(trees, numbers):
        keys = zip(trees.tolist(), numbers.tolist())
        return np.array([places.get(key, -1) for key in keys], np.int64)

    return find


@operator('TreeEnsembleRegressor', takes=HOST, domain=ML)
def tree_ensemble_regressor(x, *, aggregate_function, n_targets, post_transform, **attributes):
    ensemble = _of_table(attributes, 'target')
    scores, _ = ensemble.scores(matrix(x), n_targets or 1, aggregate_function)
    base = _numbers(attributes, 'base_values')
    if len(base) not in (0, 1, scores.shape[1]):
        raise ValueError(f'there are {len(base)} base values for {scores.shape[1]} targets')
    return transformed(scores + base if len(base) else scores, post_transform)


@operator('TreeEnsembleClassifier', takes=HOST, domain=ML)
def tree_ensemble_classifier(x, *, post_transform, **attributes):
    ensemble = _of_table(attributes, 'class')
    labels = labels_of(attributes)
    scores, number = ensemble.scores(matrix(x), len(labels), 'SUM')
    base = _numbers(attributes, 'base_values')
    classes = np.unique(ensemble.targets)
    if len(labels) > 2 or len(classes) > 1 or len(base) > 1:
        scores = scores + base if len(base) else scores
        known = scores if len(base) else np.where(number > 0, scores, -np.inf)
        return labels[known.argmax(axis=1)], transformed(scores, post_transform)
    # All weights are of one class, and stand for two.
    column = scores[:, classes] + base.sum()
    is_positive = bool((ensemble.weights >= 0).all())
    wins = (column[:, 0] > (0.5 if is_positive and len(labels) == 2 else 0.0)).astype(np.int64)
    if len(labels) == 1:
        return wins, transformed(column, post_transform)
    if classes[0] == 1:
        return labels[wins], transformed(scores, post_transform)
    return labels[wins], of_two_classes(column, post_transform, sum_is_one=is_positive)
