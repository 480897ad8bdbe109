"""Docker, or whatever speaks as it does: an engine for `container/`."""
