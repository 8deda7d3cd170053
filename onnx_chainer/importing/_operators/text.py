"""Strings."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .. import _values as v
from ..registry import HOST, operator, operators

operators(
    {
        'StringConcat': lambda a, b: np.asarray(a.astype(object) + b.astype(object), object),
        'RegexFullMatch': lambda x, *, pattern: np.asarray(
            np.frompyfunc(re.compile(pattern).fullmatch, 1, 1)(x), bool
        ),
    },
    takes=HOST,
)


@operator('StringSplit', takes=HOST)
def string_split(x, *, delimiter, maxsplit):
    most = -1 if maxsplit is None else maxsplit
    parts = [text.split(delimiter or None, most) for text in x.ravel()]
    counts = np.array([len(each) for each in parts], np.int64)
    y = np.full((len(parts), max(map(len, parts), default=0)), '', object)
    for row, each in zip(y, parts):
        row[: len(each)] = each
    return y.reshape(*x.shape, y.shape[1]), counts.reshape(x.shape)


_CASES: dict[str, Callable[[str], str]] = {'NONE': str, 'LOWER': str.lower, 'UPPER': str.upper}


@operator('StringNormalizer', takes=HOST)
def string_normalizer(x, *, case_change_action, is_case_sensitive, stopwords):
    if x.ndim != 1 and (x.ndim != 2 or len(x) != 1):
        raise ValueError(f'the shape is {x.shape}, not (n,) or (1, n)')
    change = _CASES[case_change_action]
    compare = str if is_case_sensitive else str.lower
    stop = {compare(word) for word in stopwords or ()}
    kept = [change(text) for text in x.ravel() if compare(text) not in stop] or ['']
    return np.array(kept, object).reshape((1, -1) if x.ndim == 2 else -1)


@operator('TfIdfVectorizer', takes=HOST)
def tf_idf_vectorizer(
    x, *, mode, ngram_counts, ngram_indexes, pool_int64s, pool_strings, weights, **lengths
):
    pool = pool_strings if pool_int64s is None else pool_int64s
    grams = _grams(pool, ngram_counts, len(ngram_indexes))
    size = max(ngram_indexes) + 1
    v.checked_size((x.shape[0] if x.ndim == 2 else 1, size), 4)
    table = x.reshape(-1, x.shape[-1]) if x.ndim else x.reshape(1, 1)
    y = np.zeros((len(table), size), np.float32)
    for row, counts in zip(table, y):
        for gram in filter(grams.__contains__, _grams_of(row.tolist(), **lengths)):
            counts[ngram_indexes[grams[gram]]] += 1
    if mode in ('IDF', 'TFIDF'):
        scale = np.zeros(size, np.float32)
        scale[ngram_indexes] = 1 if weights is None else weights
        y = np.where(y > 0, scale, 0) if mode == 'IDF' else y * scale
    return y.astype(np.float32) if x.ndim == 2 else y[0].astype(np.float32)


def _grams(pool, counts, most):
    """The places of the grams of a pool, which has those of one element, then those of two, ..."""
    ends = [*counts[1:], len(pool)]
    if any(not begin <= end <= len(pool) for begin, end in zip(counts, ends)):
        raise ValueError(f'the ngram_counts {counts} do not fit to a pool of {len(pool)}')
    grams, number = {}, 0
    for size, (begin, end) in enumerate(zip(counts, ends), 1):
        for i in range(begin, end, size):
            grams[tuple(pool[i : i + size])] = number
            number += 1
    if number > most:
        raise ValueError(f'the pool has {number} grams, and there are {most} ngram_indexes')
    return grams


def _grams_of(row, max_gram_length, max_skip_count, min_gram_length):
    """Yields the grams of a row."""
    if max_gram_length < min_gram_length:
        raise ValueError(f'there are no grams of {min_gram_length} to {max_gram_length} elements')
    for length in range(min_gram_length, min(max_gram_length, len(row)) + 1):
        # Grams of one element know no skips, and the last element is in the row.
        steps = 1 if length == 1 else min(max_skip_count + 1, (len(row) - 1) // (length - 1))
        for step in range(1, steps + 1):
            for begin in range(len(row) - (length - 1) * step):
                yield tuple(row[begin : begin + length * step : step])
