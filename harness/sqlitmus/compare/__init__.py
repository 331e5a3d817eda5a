"""Two subjects against each other: made ready, measured together or taken from two runs.

`subject` what a name means · `resolve`, `fetch`, `npm` versions and programs made ready ·
`comparison` one interleaved run, or two finished ones (`two_runs`) · `gate` what is slower by too
much.

Imports: vocabulary, stats, catalog, run, results, analysis.
"""
