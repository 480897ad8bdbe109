"""Colors, fonts and motion."""
