"""How each kind of task is graded: split into work, and rolled up into scores."""
