"""The emulation of CUDA that ``python tools/build.py --test`` builds."""

import ctypes
import os
import shutil
from pathlib import Path


def is_emulated():
    return 'cuda_emulation' in os.environ.get('CHAINERX_PATH', '')


def copy_backend(folder):
    """Makes a copy of the backend without the libraries beside it; returns its ``CHAINERX_PATH``."""
    build = Path(os.environ['CHAINERX_PATH']).resolve()
    (folder / 'path' / 'backends').mkdir(parents=True)
    shutil.copy(build / 'backends' / 'cuda.so', folder / 'path' / 'backends')
    # Of the emulation; the backend looks for it beside its folder.
    (folder / 'path' / 'libcuda_emulation.so').symlink_to(build / 'libcuda_emulation.so')
    return str(folder / 'path')


def count_launches(f):
    """Calls a function; returns how many kernels it launches."""
    path = Path(os.environ['CHAINERX_PATH'], 'libcuda_emulation.so')
    count = ctypes.CDLL(str(path)).cudaEmulatedLaunches
    count.restype = ctypes.c_int64
    before = count()
    f()
    return count() - before
