"""Compares two subjects: resolved, then measured in one run or taken from two finished runs.

`subject` parses what the user names · `resolve`, `fetch`, `npm` get versions and programs ·
`comparison` measures one interleaved run, or reads two finished ones (`two_runs`, of two `sides`)
if they are `comparable` · `gate` finds the cases that are slower by too much, `findings` says what
that comes to.

Imports: vocabulary, stats, catalog, run, results, analysis.
"""
