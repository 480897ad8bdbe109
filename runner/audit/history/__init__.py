"""Reading the ledger: pages, search, figures, and programs at work."""
