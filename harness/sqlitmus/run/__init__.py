"""A session: choose, verify, pilot, freeze the plan, measure block by block, save each sample.

`session` runs it, top to bottom, through the rooms `processes`, `verify`, `measure` and `plan`.

Imports: vocabulary, stats, machine, catalog, store.
"""
