"""Compares two subjects: resolved, then measured in one run or taken from two finished runs.

`subject` parses what the user names and gets versions and programs · `comparison` measures one
interleaved run and asks its gate, or compares two finished ones.

Imports: vocabulary, stats, catalog, store, run, results, analysis.
"""
