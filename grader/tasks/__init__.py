"""Tasks: their models, and reading them from packages, files and benchmarks."""
