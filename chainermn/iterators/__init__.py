"""Iterators that return the same examples in all processes."""

from chainermn.iterators.multi_node_iterator import (
    create_multi_node_iterator as create_multi_node_iterator,
)
from chainermn.iterators.synchronized_iterator import (
    create_synchronized_iterator as create_synchronized_iterator,
)
