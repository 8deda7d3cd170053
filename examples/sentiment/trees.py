"""Binary trees of words with a label at each node: reading, generating, downloading."""

import os
import re
import zipfile

import numpy as np

import chainer

URL = 'https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip'


def parse(text):
    """Parses a tree like ``(3 (2 so) (4 good))``.

    Returns:
        tuple: Label and word, or label, left tree and right tree.

    """
    tokens = iter(re.findall(r'[()]|[^\s()]+', text))

    def read():
        label = int(next(tokens))
        token = next(tokens)
        if token != '(':
            next(tokens)  # the closing parenthesis
            return label, token
        left = read()
        next(tokens)  # the opening parenthesis of the right tree
        right = read()
        next(tokens)
        return label, left, right

    next(tokens)
    return read()


def read_trees(path):
    with open(path, encoding='utf-8') as f:
        return [parse(line) for line in f if line.strip()]


def make_trees(n_trees, seed=0):
    """Generates trees of opinions, where "not" reverses the label of the next phrase."""
    random = np.random.RandomState(seed)
    words = {4: ('great', 'lovely'), 3: ('good', 'nice'), 1: ('bad', 'dull'), 0: ('awful', 'ugly')}

    def make(depth):
        if depth == 0 or random.rand() < 0.3:
            label = int(random.choice(list(words)))
            return label, random.choice(words[label])
        tree = make(depth - 1)
        if random.rand() < 0.5:
            return 4 - tree[0], (2, 'not'), tree
        return tree[0], (2, random.choice(['a', 'the', 'some'])), tree

    return [make(4) for _ in range(n_trees)]


def get_datasets(test):
    """Returns training, development and test trees."""
    if test:
        return make_trees(100), make_trees(30, seed=1), make_trees(30, seed=2)
    path = chainer.dataset.cached_download(URL)
    folder = chainer.dataset.get_dataset_directory('sentiment')
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return [
        read_trees(os.path.join(folder, 'trees', part + '.txt'))
        for part in ('train', 'dev', 'test')
    ]


def words_of(tree):
    """Yields the words of a tree."""
    if len(tree) == 2:
        yield tree[1]
    else:
        yield from words_of(tree[1])
        yield from words_of(tree[2])
