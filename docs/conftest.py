"""Skips what a build wrote, and pages that need ChainerX, MPI or ONNX if there is none."""

import importlib.util

from helpers import mpi

import chainerx

collect_ignore = ['gallery', 'tutorial', 'reference']
# Its examples are of functions that nobody has written.
collect_ignore.append('project/chainerx_recipes.rst')
if not chainerx.is_available():
    collect_ignore += ['chainerx.rst', 'from_pytorch.rst', 'one_step.rst']
if mpi.reason_to_skip():
    collect_ignore += ['guides/chainermn.rst', 'guides/scaling.rst']
if not all(map(importlib.util.find_spec, ('onnx', 'onnxruntime'))):
    collect_ignore.append('guides/onnx_export.rst')
if importlib.util.find_spec('onnx') is None:
    collect_ignore.append('guides/onnx_import.rst')
if importlib.util.find_spec('onnx') is None or not chainerx.is_available():
    collect_ignore.append('guides/onnx_cpp.rst')
