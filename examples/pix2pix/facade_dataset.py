import os

import numpy as np
from PIL import Image

import chainer

N_LABELS = 12


class FacadeDataset(chainer.dataset.DatasetMixin):
    """Pictures of the fronts of houses, with images of the labels of their parts.

    There are files ``NAME.jpg`` and ``NAME.png``, the latter with label numbers from 1 to 12.

    Args:
        folder (str): Folder of the files.
        data_range (tuple of ints): Positions of the first file and behind the last.
        size (int): Size of the square images. They are cut out at random from ones that are a
            bit larger.

    Returns of each item: labels as images of -1 and 1, ``(12, size, size)``, and picture with
    values from -1 to 1, ``(3, size, size)``.

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
