"""How each kind of task is graded and scored."""
