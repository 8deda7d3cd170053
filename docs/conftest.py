"""Skips the pages whose examples need ChainerX if it is not built."""

import chainerx

collect_ignore = [] if chainerx.is_available() else ['chainerx.rst']
