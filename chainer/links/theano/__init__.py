"""Computation by Theano."""
