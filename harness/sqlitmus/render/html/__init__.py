"""A report as one offline HTML file."""
