"""The verdict on a record from its page: spec, rules, excerpts, and the model judge."""
