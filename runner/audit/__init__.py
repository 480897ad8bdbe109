"""The audit log: an append-only ledger, the history read from it, its verification, and the files of runs.
--"""
