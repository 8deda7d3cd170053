"""Links that normalize activations."""
