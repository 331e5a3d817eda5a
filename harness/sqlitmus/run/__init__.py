"""A sitting: choose, verify, pilot, freeze the plan, measure block by block, save each sample.

`session` is the whole of it, top to bottom · `context` what its steps share · `verify`, `judge`
answers against the oracle's · `pilot`, `counts`, `freeze` → the plan · `schedule`, `blocks` the
order and the loop over it · `invocations`, `hyperfine` one cell once · `store` the run directory ·
`memory` what earlier runs found out · `selftest` the same steps on equals · `processes/` several
processes at once.

Imports: vocabulary, stats, machine, catalog.
"""
