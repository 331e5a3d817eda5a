"""Published claims of a run: their rows and tables, what was said and what came out here."""
