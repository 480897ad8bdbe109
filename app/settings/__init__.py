"""The settings as a form."""
