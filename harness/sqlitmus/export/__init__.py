"""A run for other tools: one row per cell, machine and runner, in the forms that they read.

`model` what a row holds and where it is read · `formats` reports to rows, and rows to texts (JSON
is the model itself).

Imports: vocabulary, stats, results, render.
"""
