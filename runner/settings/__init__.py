"""The settings: declared once, loaded, saved and explained."""
