"""Which state a page is in: ok, blocked, login, dead and the others."""
