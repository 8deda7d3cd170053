"""Images with captions, in files in the format of MSCOCO."""

import collections
import json
import os

import numpy as np
from PIL import Image

import chainer

UNK, BOS, EOS = 0, 1, 2
SPECIAL = '<unk>', '<bos>', '<eos>'


def read_image(path, size):
    """Reads an image in VGG16's format: BGR, mean-subtracted, ``(3, size, size)``."""
    with Image.open(path) as f:
        image = np.asarray(f.convert('RGB').resize((size, size)), np.float32)
    image = image[:, :, ::-1] - np.array([103.939, 116.779, 123.68], np.float32)
    return np.ascontiguousarray(image.transpose(2, 0, 1))


def split(caption):
    return caption.lower().replace('.', ' ').replace(',', ' ').split()


def make_vocab(path, min_freq=5, max_words=10000):
    """Assigns IDs to the frequent words of the captions in a file."""
    with open(path, encoding='utf-8') as f:
        annotations = json.load(f)['annotations']
    counts = collections.Counter(
        word for annotation in annotations for word in split(annotation['caption'])
    )
    words = [word for word, n in counts.most_common(max_words) if n >= min_freq]
    return {word: i for i, word in enumerate([*SPECIAL, *words])}


class CaptionDataset(chainer.dataset.DatasetMixin):
    """Pairs of an image and a caption, which is an array of word IDs.

    Args:
        root (str): Folder with ``annotations/captions_PART.json`` and the images in ``PART``.
        part (str): ``'train2014'`` or ``'val2014'``.
        vocab (dict): Word IDs.
        max_caption_length (int): Maximum number of words; longer captions are cut.
        size (int): Size of the images.
        quantity (int): Number of captions to use; all by default.

    """

    def __init__(self, root, part, vocab, max_caption_length, size, quantity=None):
        with open(annotation_path(root, part), encoding='utf-8') as f:
            content = json.load(f)
        names = {image['id']: image['file_name'] for image in content['images']}
        self.items = [
            (os.path.join(root, part, names[annotation['image_id']]), annotation['caption'])
            for annotation in content['annotations'][:quantity]
        ]
        self.vocab = vocab
        self.max_caption_length = max_caption_length
        self.size = size

    def __len__(self):
        return len(self.items)

    def get_example(self, i):
        path, caption = self.items[i]
        ids = [self.vocab.get(word, UNK) for word in split(caption)[: self.max_caption_length]]
        return read_image(path, self.size), np.array([BOS, *ids, EOS], np.int32)


def annotation_path(root, part):
    return os.path.join(root, 'annotations', f'captions_{part}.json')


@chainer.dataset.converter()
def convert(batch, device):
    """Stacks the images and pads the captions with -1."""
    return chainer.dataset.concat_examples(batch, device, padding=-1)
