"""Notices on the desktop and in the tray."""
