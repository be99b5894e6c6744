"""The stages of grading: pages, the judge, the model roles, and what they cost."""
