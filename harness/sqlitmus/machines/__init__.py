"""Merges and analyses run directories of several machines.

Merging: `discover` → `admit` (`candidate`, `values`) → `agree`, `arrange` → `copying`, `manifest`,
all called by `merge`. Reading: `load` (`join`) → `survey` one machine → `holds` → `report`.

Imports: vocabulary, stats, machine, catalog, run, results, analysis.
"""
