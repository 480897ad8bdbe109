"""This machine: its folders, files, log and tasks. Knows no request."""
