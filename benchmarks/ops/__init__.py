"""Tables of single operations; each file lists its rows."""

from ops import large, networks, small

SMALL = small.ROWS
LARGE = large.ROWS + networks.ROWS
