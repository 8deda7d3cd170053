"""Skips what a build of the pages wrote, and those that need ChainerX or MPI if there is none."""

from helpers import mpi

import chainerx

collect_ignore = ['gallery', 'tutorial', 'reference']
if not chainerx.is_available():
    collect_ignore.append('chainerx.rst')
if mpi.reason_to_skip():
    collect_ignore.append('guides/chainermn.rst')
