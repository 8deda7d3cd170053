import os

import numpy as np
from PIL import Image

import chainer

N_LABELS = 12


class FacadeDataset(chainer.dataset.DatasetMixin):
    """Photographs of facades, with label images of their parts.

    The folder has files ``NAME.jpg`` and ``NAME.png``; the latter contain labels from 1 to 12.

    Args:
        folder (str): Folder of the files.
        data_range (tuple of ints): Indices of the first file and after the last.
        size (int): Size of the square images, which are random crops of slightly larger ones.

    Each item is a pair of labels as images of -1 and 1, ``(12, size, size)``, and a photograph
    with values from -1 to 1, ``(3, size, size)``.

    """

    def __init__(self, folder, data_range, size=256):
        names = sorted(file[:-4] for file in os.listdir(folder) if file.endswith('.jpg'))
        self.paths = [os.path.join(folder, name) for name in names[slice(*data_range)]]
        self.size = size

    def __len__(self):
        return len(self.paths)

    def get_example(self, i):
        large = self.size * 9 // 8
        with Image.open(self.paths[i] + '.jpg') as f:
            image = np.asarray(f.convert('RGB').resize((large, large)), np.float32)
        with Image.open(self.paths[i] + '.png') as f:
            label = np.asarray(f.resize((large, large), Image.Resampling.NEAREST), np.int32)
        y, x = np.random.randint(large - self.size + 1, size=2)
        window = slice(y, y + self.size), slice(x, x + self.size)
        image = image[window].transpose(2, 0, 1) / 127.5 - 1
        labels = np.arange(1, N_LABELS + 1)[:, None, None] == label[window]
        return labels.astype(np.float32) * 2 - 1, image.astype(np.float32)
