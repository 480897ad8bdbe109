"""Removal of content from the history, by rule or by order, and the clearing away after it."""
