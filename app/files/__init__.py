"""Files that a run created: listed, looked at, saved."""
