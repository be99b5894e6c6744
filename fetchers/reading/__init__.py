"""A body to text: charset, HTML, PDF, extraction."""
