"""Runs: their output and what they use, live and for a while after."""
