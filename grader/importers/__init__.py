"""Other benchmarks' files to tasks."""
