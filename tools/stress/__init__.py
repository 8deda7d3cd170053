"""A stress of the whole product, see ``python -m tools.stress --help``."""
