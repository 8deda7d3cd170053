"""Images and lists of them in files."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

import numpy

from chainer.utils import _damaged_file

if TYPE_CHECKING:
    pass

# How much larger than their part of a zip file images may be. Compressed images hardly grow.
_FREE_SIZE = 1 << 26
_MAX_RATIO = 32


def import_pillow():
    try:
        from PIL import Image
    except ImportError as e:
        raise RuntimeError(
            'PIL cannot be loaded. Install Pillow!\n'
            'The actual import error is as follows:\n' + str(e)
        ) from e
    return Image


def read_image(file, dtype, name):
    Image = import_pillow()
    kept = OSError, Image.DecompressionBombError
    with _damaged_file.reading(name, 'an image', keep=kept), Image.open(file) as image:
        array = numpy.asarray(image, dtype=dtype)
    if array.ndim == 2:
        array = array[:, :, None]
    return array.transpose(2, 0, 1)


def read_member(archive, path, name):
    """Returns the content of a file in a zip file."""
    info = archive.getinfo(name)
    with _damaged_file.reading(path, 'a zip file of images'), archive.open(info) as member:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # The module zipfile unpacks others without a limit.
            raise ValueError(f"'{name}' has the unsupported compression {info.compress_type}")
        if info.file_size > _FREE_SIZE + _MAX_RATIO * info.compress_size:
            raise ValueError(
                f"'{name}' grows from {info.compress_size} to {info.file_size} bytes, which is no "
                'image'
            )
        return member.read(info.file_size)


def read_pairs(path):
    pairs = []
    with open(os.fspath(path)) as f:
        for i, line in enumerate(f):
            try:
                name, label = line.split()
                pairs.append((name, int(label)))
            except ValueError:
                raise ValueError(f'invalid format at line {i} in file {path}') from None
    return pairs
