"""Pages from WARC archives."""
