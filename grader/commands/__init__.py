"""The commands of `assay`: their flags, what they run, and what they print."""
