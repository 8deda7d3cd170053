"""Features of classical models: columns that are scaled, filled, chosen and joined, and categories.

Categories are numbers, strings, columns and maps. A map is a dictionary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensors import checked_size
from ..registry import ARRAYS, HOST, VALUES, operator

ML = 'ai.onnx.ml'


@operator('ArrayFeatureExtractor', takes=HOST, domain=ML)
def array_feature_extractor(x, indices):
    y = np.take(x, indices.ravel(), axis=-1)
    return y.reshape(1, -1) if x.ndim == 1 else y


@operator('Binarizer', takes=ARRAYS, domain=ML)
def binarizer(x, *, threshold):
    return (x > threshold).astype(x.dtype)


@operator('Scaler', takes=HOST, domain=ML)
def scaler(x, *, offset, scale):
    offset, scale = offset or (0.0,), scale or (1.0,)
    return ((x - np.asarray(offset)) * np.asarray(scale)).astype(np.float32)


_NORMS = {
    'MAX': lambda x: abs(x).max(axis=-1, keepdims=True, initial=0),
    'L1': lambda x: abs(x).sum(axis=-1, keepdims=True),
    'L2': lambda x: np.sqrt(np.square(x).sum(axis=-1, keepdims=True)),
}


@operator('Normalizer', takes=HOST, domain=ML)
def normalizer(x, *, norm):
    x = x.astype(np.float32)
    norms = _NORMS[norm](x)
    return x / np.where(norms == 0, np.float32(1), norms)


@operator('Imputer', takes=HOST, domain=ML)
def imputer(x, *, replaced_value_float, replaced_value_int64, **imputed):
    is_float = x.dtype.kind == 'f'
    replaced = replaced_value_float if is_float else replaced_value_int64
    values = imputed['imputed_value_floats' if is_float else 'imputed_value_int64s']
    if not values:
        raise ValueError(f'there are no imputed values for the dtype {x.dtype}')
    missing = np.isnan(x) if is_float and np.isnan(replaced) else x == x.dtype.type(replaced)
    return np.where(missing, np.array(values, x.dtype), x)


@operator('FeatureVectorizer', takes=HOST, domain=ML)
def feature_vectorizer(*xs, inputdimensions):
    sizes = inputdimensions or [x.shape[-1] for x in xs]
    if len(sizes) != len(xs):
        raise ValueError(f'there are {len(xs)} inputs and {len(sizes)} inputdimensions')
    return np.concatenate([_columns(x, n) for x, n in zip(xs, sizes)], axis=1)


def _columns(x, size):
    """A matrix of so many columns: the first ones, or all and zeros."""
    x = x.reshape(len(x), -1)[:, :size].astype(np.float32)
    return np.pad(x, ((0, 0), (0, size - x.shape[1])))


# -- categories

_DTYPES = {'tensor': None, 'floats': np.float32, 'int64s': np.int64, 'strings': object}


@operator('LabelEncoder', takes=HOST, domain=ML)
def label_encoder(x, *, classes_strings, **attributes):
    if classes_strings is not None:  # opset 1: between strings and their places
        keys, values = ('strings', 'int64s') if x.dtype.kind in 'OSU' else ('int64s', 'strings')
        places = range(len(classes_strings))
        attributes[f'keys_{keys}'] = classes_strings if keys == 'strings' else places
        attributes[f'values_{values}'] = classes_strings if values == 'strings' else places
    _, keys = _given('keys', attributes)
    kind, values = _given('values', attributes)
    default = attributes[f'default_{kind.removesuffix("s")}']
    if kind == 'tensor' and default is None:
        default = {'O': '_Unused', 'f': -0.0}.get(values.dtype.kind, -1)
    if isinstance(default, np.ndarray):
        default = default.ravel()[0]
    dtype = values.dtype if kind == 'tensor' else _DTYPES[kind]
    return _looked_up(x, keys, values, default, dtype)


def _given(name, attributes):
    """The kind and the value of that one of a group of attributes that is there."""
    for kind in _DTYPES:
        if attributes[f'{name}_{kind}'] is not None:
            return kind, attributes[f'{name}_{kind}']
    raise ValueError(f'there is no attribute {name}_floats, {name}_int64s, {name}_strings or so')


def _looked_up(x, keys, values, default, dtype):
    """The values that a table has for the elements of an array."""
    keys, values = np.ravel(np.asarray(keys)), np.ravel(np.asarray(values))
    if len(keys) != len(values):
        raise ValueError(f'there are {len(keys)} keys and {len(values)} values')
    table = dict(zip(map(_key, keys), values))
    look_up = np.frompyfunc(lambda key: table.get(_key(key), default), 1, 1)
    return np.asarray(look_up(x), dtype)


_NAN = object()


def _key(key):
    """A key of a table; one NaN equals another there."""
    key = key.item() if isinstance(key, np.generic) else key
    return _NAN if isinstance(key, float) and math.isnan(key) else key


@operator('CategoryMapper', takes=HOST, domain=ML)
def category_mapper(x, *, cats_int64s, cats_strings, default_int64, default_string):
    strings, integers = np.array(cats_strings or [], object), cats_int64s or []
    if x.dtype.kind in 'OSU':
        return _looked_up(x, strings, integers, default_int64, np.int64)
    return _looked_up(x, integers, strings, default_string, object)


@operator('OneHotEncoder', takes=HOST, domain=ML)
def one_hot_encoder(x, *, cats_int64s, cats_strings, zeros):
    categories = cats_strings if x.dtype.kind in 'OSU' else cats_int64s
    if not categories:
        raise ValueError(f'there are no categories for the dtype {x.dtype}')
    if x.dtype.kind not in 'OSU':
        x = x.astype(np.int64)
    checked_size((*x.shape, len(categories)), 4)
    places = _looked_up(x, categories, range(len(categories)), -1, np.int64)
    if not zeros and (places < 0).any():
        raise ValueError(f'{x[places < 0].ravel()[0]!r} is no category')
    return (places[..., None] == np.arange(len(categories))).astype(np.float32)


@operator('DictVectorizer', takes=VALUES, domain=ML)
def dict_vectorizer(x, *, int64_vocabulary, string_vocabulary):
    vocabulary = int64_vocabulary if string_vocabulary is None else string_vocabulary
    if vocabulary is None:
        raise ValueError('there is no vocabulary')
    rows = x if isinstance(x, list) else [x]
    some: Any = next((each for row in rows for each in row.values()), 0.0)
    missing = '' if isinstance(some, str) else 0
    values = [[row.get(key, missing) for key in vocabulary] for row in rows]
    # The numbers of Python have no size.
    kinds = {float: np.float32, int: np.int64, str: object}
    dtype = kinds.get(type(some)) or some.dtype
    return np.array(values, dtype).reshape(len(rows), len(vocabulary))


_CASTS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    'TO_FLOAT': (np.float32, float),
    'TO_INT64': (np.int64, lambda value: int(float(value))),
    'TO_STRING': (object, lambda value: value if isinstance(value, str) else f'{value:.6f}'),
}


@operator('CastMap', takes=VALUES, domain=ML)
def cast_map(x, *, cast_to, map_form, max_map):
    dtype, cast = _CASTS[cast_to]
    keys = sorted(x)
    if map_form == 'SPARSE':
        if keys and not 0 <= keys[0] <= keys[-1] < max_map:
            raise ValueError(f'a key of the map is not below max_map, which is {max_map}')
        checked_size((1, max_map), 8)
        y = np.full((1, max_map), '' if dtype is object else 0, dtype)
    else:
        y = np.empty((1, len(keys)), dtype)
    for place, key in enumerate(keys):
        y[0, key if map_form == 'SPARSE' else place] = cast(x[key])
    return y


@operator('ZipMap', takes=HOST, domain=ML)
def zip_map(x, *, classlabels_int64s, classlabels_strings):
    labels = classlabels_strings or classlabels_int64s or []
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    if rows.ndim != 2 or rows.shape[1] != len(labels):
        raise ValueError(f'the shape is {x.shape}, and there are {len(labels)} labels')
    return ([dict(zip(labels, map(float, row))) for row in rows],)
