"""The parts that the engine stands on: configuration, the open ledger, the sandbox in use."""
