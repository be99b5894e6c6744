"""Collections: a hierarchy of keys, records with evidence (WANDR)."""
