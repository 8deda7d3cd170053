"""Theano functions."""
