"""Skips what a build of the pages wrote, and those that need ChainerX if it is not built."""

import chainerx

collect_ignore = ['gallery', 'tutorial', 'reference']
if not chainerx.is_available():
    collect_ignore.append('chainerx.rst')
