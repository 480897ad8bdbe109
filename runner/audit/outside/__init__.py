"""Signed heads that are kept outside of the ledger."""
