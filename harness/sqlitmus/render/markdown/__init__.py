"""A report as GitHub-flavoured Markdown."""
