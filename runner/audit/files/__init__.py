"""The files beside the ledger: what runs left, with credentials taken out, and their check."""
