"""Variables and parameters, with their operators, conversions and texts."""
