"""Results as words, symbols and short texts, the same for every format."""
