"""Dtypes, modes and defaults that users choose."""
