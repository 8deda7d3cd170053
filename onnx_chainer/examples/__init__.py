"""Examples of exports of large models."""
