"""A session: choose, verify, pilot, freeze the plan, measure block by block, save each sample.

`session` runs it, top to bottom · `context` holds what its steps share, `disk` and `scratch` are
its places · `verify` checks `answers` before anything is timed · `planning`, `pilot`, `observed`,
`counts`, `freeze`, `naming` make the plan · `schedule` orders the cells, `blocks` measures them,
each by `performer`, `ended` says how that went · `invocations` runs one cell once, an `attempt`:
`preparation` makes its job, `copies` its database, `starter` starts it by `hyperfine`, `finished`
is what became of it, `judging` decides by `judge` (the oracle's answer), `belonging` and
`plausible` (whose result, and whether it can be), `proof` (what the database holds) · `difference`
tells the types of another answer · `freshness` with `staleness`, `syncs`, `fixtures`, `oracle`
prove what a runner says of itself by other means · `store` is the run directory, of `jsonlines`,
`lines` what is in it, `latest` the link to the newest · `memory` remembers earlier runs ·
`processes/` starts several processes at once, `relay/` lets those of a case take turns, `sets`
judges them · `selftest/` measures equal processes.

Imports: vocabulary, stats, machine, catalog.
"""
