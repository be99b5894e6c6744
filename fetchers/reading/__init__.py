"""Reads the body of a page: character set, HTML, PDF, visible text."""
