"""Tables against gold tables (Ko-WideSearch, WideSearch)."""
