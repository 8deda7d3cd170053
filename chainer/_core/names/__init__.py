"""How names are found: at their first use, by the core, and in the words of other libraries."""
