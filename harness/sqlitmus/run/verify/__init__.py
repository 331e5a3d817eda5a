"""Verifies cells: whether a runner's answer is right, and whether its figures can be.

`answers` asks all cells before anything is timed, the oracle first, and `freshness` while rows
change. `invocations` runs one cell once and judges it by a list of checks: `judge` by answers,
`bounds` by what can be, `proof` by what the database holds. `context` is what a session shares.

Imports: processes.
"""
