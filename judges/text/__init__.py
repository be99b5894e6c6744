"""Reading text: normal form, tokens, numbers, dates, amounts."""
