"""Skips what a build of the pages wrote, and those that need what is not there."""

import importlib.util

from helpers import mpi

import chainerx

collect_ignore = ['gallery', 'tutorial', 'reference']
if not chainerx.is_available():
    collect_ignore.append('chainerx.rst')
if mpi.reason_to_skip():
    collect_ignore.append('guides/chainermn.rst')
if importlib.util.find_spec('onnx') is None:
    collect_ignore.append('guides/onnx_import.rst')
