"""A run as one SQLite file.

`file` what is kept, the tables, and how a file from elsewhere is read · `folder` one run's folder,
and the folder of results that it lies in.

Imports: vocabulary, machine, catalog.
"""
