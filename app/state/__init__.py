"""What the window knows of requests, agents and programs at work, kept up to date by events."""
