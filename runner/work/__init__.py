"""A program at work over a working copy: what it reports, how it is spoken to, and its two rings."""
