"""Risk of agents' tools besides running code: files, patches, and tools of an agent's own program."""
