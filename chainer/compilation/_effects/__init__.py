"""What a call does beyond computing arrays, a module for each kind."""
