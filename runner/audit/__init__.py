"""The record of everything that happened: a ledger that only grows, and what reads, checks and keeps it."""
