"""Result files, the summary, and the tables on the terminal."""
