"""Tables of what other libraries call things, and what they are called here: data."""
