"""Rules over acts, and the knowledge they use."""
