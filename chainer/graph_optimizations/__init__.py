"""Static graphs, accepted but run as dynamic ones."""

from chainer.graph_optimizations.static_graph_utilities import static_code as static_code  # noqa: F401
