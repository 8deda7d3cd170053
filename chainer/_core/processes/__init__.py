"""What processes share, and how they start."""
