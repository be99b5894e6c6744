"""Which values name one entity."""
