"""Columns of features of classical models: scaled, filled, chosen and joined."""

from __future__ import annotations

import numpy as np

from ..registry import ARRAYS, HOST, operator

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
