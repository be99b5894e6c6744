"""The formats of table columns: how a cell is read and compared (tables.md, "The comparator")."""
