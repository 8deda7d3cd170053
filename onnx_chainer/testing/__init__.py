"""Helpers of tests that export models."""
