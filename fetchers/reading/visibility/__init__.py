"""Which text of a page a reader sees."""
