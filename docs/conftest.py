"""Leaves out the pages whose examples need the compiled ChainerX core where it is not built."""

import chainerx

collect_ignore = [] if chainerx.is_available() else ['chainerx.rst']
