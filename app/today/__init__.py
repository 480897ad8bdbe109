"""The page Today: what agents did, what was decided and how fast, and what is worth a look."""
