"""The history: what was asked, decided and run, from the ledger."""
