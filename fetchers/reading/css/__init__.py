"""CSS of a page: style sheets to rules, selectors, and the values that elements get."""
