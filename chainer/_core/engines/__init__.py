"""Engines: each runs a function on one kind of arrays and gives its outputs and a tape."""
