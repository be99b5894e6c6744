"""Judging: records on their pages, names, table cells, short answers."""
