"""The ledger itself: entries, their chain and seal, its file, its verification, removal of content."""
