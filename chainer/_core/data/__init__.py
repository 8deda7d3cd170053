"""What snapshots hold, and folders for incomplete files."""
