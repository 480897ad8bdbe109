"""From the command to the open window, and out again."""
