"""What is graded and what comes out."""
