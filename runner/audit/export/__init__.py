"""Writes the history into files for other programs and people: JSON Lines, a table, a report, or its raw entries."""
