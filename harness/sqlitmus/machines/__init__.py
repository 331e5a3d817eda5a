"""Merges and analyses runs of several machines.

`merge` runs into one file · `survey` one machine each · `report` all of them.

Imports: vocabulary, stats, machine, catalog, store, results, analysis.
"""
