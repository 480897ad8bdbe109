"""Programs that agents run in: where their configuration is, and what connects them to Assent."""
