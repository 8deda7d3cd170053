"""Update rules, and how they run on many parameters at once."""
