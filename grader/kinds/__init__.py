"""How each kind of task flattens into work and rolls up into scores."""
