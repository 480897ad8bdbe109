"""What the tools of agents do besides running code: files, patches, and tools of an agent's own program."""
