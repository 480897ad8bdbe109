"""Where agents come in. Imports nothing, so that the stdio bridge starts in milliseconds."""
