"""Links that compute losses."""
