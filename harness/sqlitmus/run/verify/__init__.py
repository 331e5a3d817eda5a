"""Verifies cells: whether a runner's answer is right, and whether its figures can be.

`answers` asks all cells before anything is timed, the oracle first. A `prober` lets `freshness`
change rows beside a runner, and `stalls` stop it. `invocations` runs one cell once, `judge` has the
list of checks that decide what comes of it: by answers, by `bounds` of what can be, and by `proof`
of what the database holds. `context` is what a session shares.

Imports: processes.
"""
