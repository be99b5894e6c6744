"""A record and a page to a verdict, values to identities."""
