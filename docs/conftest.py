"""Skips what a build of the pages wrote, and those that need ChainerX or ONNX if that is not there."""

import importlib.util

import chainerx

collect_ignore = ['gallery', 'tutorial', 'reference']
if not chainerx.is_available():
    collect_ignore.append('chainerx.rst')
if importlib.util.find_spec('onnx') is None:
    collect_ignore.append('guides/onnx_import.rst')
