"""How work moves: a stage with a queue in front of it, and the graph of them."""
