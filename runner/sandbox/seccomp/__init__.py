"""A filter of system calls of one's own: read, checked, and held against Assent's."""
