"""Ways to the engine: its events as signals, its calls as awaitables, tasks of pages and threads."""
