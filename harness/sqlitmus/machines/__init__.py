"""Merges and analyses runs of several machines.

`merge` runs into one file · `report` surveys each machine, and says what holds on which.

Imports: vocabulary, stats, machine, catalog, store, results, analysis.
"""
