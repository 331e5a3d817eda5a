"""Plans a run: `planning`, from `options` by `pilot`, `counts` and `budget`.

Imports: processes, verify, measure.
"""
