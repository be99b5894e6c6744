"""How each kind of task is described, flattens into work, and rolls up into scores."""
