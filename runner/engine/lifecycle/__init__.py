"""Work that time brings: opening, recovery, bounds of the history, sleep, a loop that stands still."""
