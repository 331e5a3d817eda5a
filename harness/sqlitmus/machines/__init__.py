"""Run directories of several machines, or shards of one suite: taken, merged, analysed together.

Taking: `discover` → `admit` (`candidate`, `values`) → `agree`, `arrange` → `copying`, `manifest`,
all called by `merge`. Reading: `load` (`join`) → `survey` a machine → `holds` → `report`.

Imports: vocabulary, stats, machine, catalog, run, results, analysis.
"""
