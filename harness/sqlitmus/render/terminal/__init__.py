"""A report as text for a terminal."""
