"""A URL to a page: guard, http, archive, extraction, triage."""
