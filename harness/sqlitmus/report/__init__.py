"""From analysed results to HTML, Markdown, JSON and terminal text; no statistics in here."""
