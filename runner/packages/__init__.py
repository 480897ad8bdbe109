"""Packages for sandboxes: what a request would install, found, fetched and checked without running anything of it."""
