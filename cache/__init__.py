"""The cache: an append-only ledger of results and a store of page bodies."""
