"""Merges and analyses run directories of several machines.

Merging: `merge`, of what `admit` lets in. Reading: `survey` one machine each, `report` all of them.

Imports: vocabulary, stats, machine, catalog, run, results, analysis.
"""
