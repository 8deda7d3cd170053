"""Models for images."""
