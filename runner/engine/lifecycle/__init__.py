"""What happens by time: opening, recovery, bounds of the history, sleep, a loop that stands still."""
