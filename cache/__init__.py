"""What is known already: an append-only ledger and a store of page bodies."""
