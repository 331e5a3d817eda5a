"""A run for other tools: one row per cell, machine and runner, in the forms that they read.

`model` what a row holds and where it is read · `rows` reports to rows · `formats` one function each
(JSON is the model itself).

Imports: vocabulary, stats, store, results, analysis, machines, render.
"""
