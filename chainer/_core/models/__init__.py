"""Links and chains, with their errors, summaries and pictures."""
