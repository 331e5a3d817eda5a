"""A session: choose, verify, pilot, freeze the plan, measure block by block, save each sample.

`session` runs it, top to bottom; `context` holds what its steps share, `progress` tells of it.
Plan: `planning`, from `options` by `pilot`, `counts` and `budget`.
Measure: `agenda` orders the cells, `blocks` measures them; `invocations` runs one cell once and
judges it by a list of checks, `process` is one under hyperfine, `launch` several at once behind the
`barrier`, `relay` those of a case in `turns`; `copies` are their databases.
Verify: `verify` before anything is timed, with the `oracle`; `judge` by its answers, `bounds` by
what can be, `proof` by what the database holds, `freshness` by rows that change.
`selftest` measures equal processes.

Imports: vocabulary, stats, machine, catalog, store.
"""
