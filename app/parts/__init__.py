"""Widgets used by more than one panel; each shows plain text only and takes its colors from the `Look`."""
