"""A session: choose, verify, pilot, freeze the plan, measure block by block, save each sample.

`session` runs it, top to bottom · `context` holds what its steps share · `verify`, `judge` check
answers against the oracle's, `proof` what a file holds afterwards · `syncs` counts what writes make
durable · `pilot`, `counts`, `freeze` make the plan · `schedule` orders the cells and `blocks`
measures them · `invocations`, `hyperfine` run one cell once · `store` is the run directory ·
`memory` remembers earlier runs · `selftest` measures equal processes · `processes/` starts several
processes at once, `relay/` lets those of a case take turns.

Imports: vocabulary, stats, machine, catalog.
"""
