"""The stages of grading: pages, the judge, the roles of a model, and what they cost."""
