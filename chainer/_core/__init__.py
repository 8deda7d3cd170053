"""The engine room: private modules that import each other in one direction, never the root."""
