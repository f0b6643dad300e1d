"""Options that several commands share, with the words that explain them."""
