"""Strings."""

from __future__ import annotations

import re

import numpy as np

from .. import _values as v
from ..registry import HOST, operator


def _each(function, x, dtype=object):
    y = np.empty(x.shape, dtype)
    for i, text in enumerate(x.ravel()):
        y.ravel()[i] = function(text)
    return y


@operator('StringConcat', takes=HOST)
def string_concat(a, b):
    return np.asarray(np.asarray(a, object) + np.asarray(b, object), object)


@operator('RegexFullMatch', takes=HOST)
def regex_full_match(x, *, pattern):
    expression = re.compile(pattern)
    return _each(lambda text: expression.fullmatch(text) is not None, x, bool)


@operator('StringSplit', takes=HOST)
def string_split(x, *, delimiter, maxsplit):
    parts = [
        text.split(delimiter or None, -1 if maxsplit is None else maxsplit) for text in x.ravel()
    ]
    counts = np.array([len(each) for each in parts], np.int64)
    y = np.full((len(parts), counts.max(initial=0)), '', object)
    for row, each in zip(y, parts):
        row[: len(each)] = each
    return y.reshape(*x.shape, y.shape[1]), counts.reshape(x.shape)


@operator('StringNormalizer', takes=HOST)
def string_normalizer(x, *, case_change_action, is_case_sensitive, stopwords):
    change = {'NONE': str, 'LOWER': str.lower, 'UPPER': str.upper}[case_change_action]
    compare = str if is_case_sensitive else str.lower
    stop = {compare(word) for word in stopwords or ()}
    kept = [change(text) for text in x.ravel() if compare(text) not in stop] or ['']
    return np.array(kept, object).reshape((1, -1) if x.ndim == 2 else -1)


@operator('TfIdfVectorizer', takes=HOST)
def tf_idf_vectorizer(
    x,
    *,
    max_gram_length,
    max_skip_count,
    min_gram_length,
    mode,
    ngram_counts,
    ngram_indexes,
    pool_int64s,
    pool_strings,
    weights,
):
    pool = pool_strings if pool_int64s is None else pool_int64s
    # The pool has the grams of one element, then those of two, from where the counts say.
    grams = {}
    ends = [*ngram_counts[1:], len(pool)]
    for size, (begin, end) in enumerate(zip(ngram_counts, ends), 1):
        for i in range(begin, end, size):
            grams[tuple(pool[i : i + size])] = len(grams)
    size = max(ngram_indexes) + 1
    v.checked_size((x.shape[0] if x.ndim == 2 else 1, size), 4)
    rows = []
    for row in x.reshape(-1, x.shape[-1]) if x.ndim else x.reshape(1, 1):
        row = row.tolist()
        counts = np.zeros(size, np.float32)
        for length in range(min_gram_length, max_gram_length + 1):
            # Grams of one element know no skips.
            for skip in range(1 if length == 1 else max_skip_count + 1):
                for begin in range(len(row) - (length - 1) * (skip + 1)):
                    gram = tuple(row[begin : begin + length * (skip + 1) : skip + 1])
                    if len(gram) == length and gram in grams:
                        counts[ngram_indexes[grams[gram]]] += 1
        rows.append(counts)
    y = np.stack(rows) if rows else np.zeros((0, size), np.float32)
    if mode in ('IDF', 'TFIDF'):
        scale = np.zeros(size, np.float32)
        scale[ngram_indexes] = 1 if weights is None else weights
        y = np.where(y > 0, scale, 0) if mode == 'IDF' else y * scale
    return y.astype(np.float32) if x.ndim == 2 else y[0].astype(np.float32)
