"""Computation with Theano."""
