"""The help: its pages, in the window."""
