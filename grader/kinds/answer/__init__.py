"""Short answers (K-BrowseComp, BrowseComp)."""
