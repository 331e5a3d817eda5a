"""A run for other tools: one row per cell, machine and runner, in the forms that they read.

`reports` a directory's reports by machine · `model` what a row holds · `rows` reports to rows ·
`claimed` the rows of published claims · `numbers` what columns hold ·
`as_csv`, `as_markdown`, `bmf`, `gha_benchmark` one format each (JSON is the model itself) ·
`tracked` which rows the last two take · `node_csv` a comparison's samples for Node's compare.R.

Imports: vocabulary, stats, run, results, analysis, machines, render.
"""
