"""A record and its page to a verdict."""
