"""What the engine stands on: its parts, their configuration, the open ledger, the sandbox in use."""
