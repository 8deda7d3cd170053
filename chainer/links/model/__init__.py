"""Complete models."""
