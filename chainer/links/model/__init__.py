"""Links that are whole models."""
