"""Run files to submissions and records."""
