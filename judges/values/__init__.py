"""Table cells and short answers: reading and comparing them."""
