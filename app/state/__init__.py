"""The window's knowledge of requests, agents and programs at work, kept up to date by events."""
