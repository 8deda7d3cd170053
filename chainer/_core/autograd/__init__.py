"""Nodes of the graph, tapes, gradients and backpropagation."""
