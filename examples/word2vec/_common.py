"""The data of the word2vec example."""

import numpy as np

import chainer

TOPICS = (
    'cat dog horse cow sheep goat'.split(),
    'bread cheese apple soup rice egg'.split(),
    'car train bus ship plane bicycle'.split(),
    'rain snow wind cloud storm fog'.split(),
)


def get_words(test):
    """Returns the training and validation parts as word IDs, and the vocabulary."""
    if not test:
        train, val, _ = chainer.datasets.get_ptb_words()
        return train, val, chainer.datasets.get_ptb_words_vocabulary()
    # Each sentence uses words of one topic, so these words get similar vectors.
    random = np.random.RandomState(0)
    vocabulary = {word: i for i, word in enumerate(sum(TOPICS, []))}
    words = [random.choice(topic) for topic in random.permutation(TOPICS * 60) for _ in range(8)]
    ids = np.array([vocabulary[word] for word in words], np.int32)
    return ids[:-200], ids[-200:], vocabulary
