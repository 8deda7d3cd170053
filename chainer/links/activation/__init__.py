"""Links with trainable activation functions."""
