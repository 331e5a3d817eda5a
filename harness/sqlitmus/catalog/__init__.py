"""The catalogue: TOML files become scenarios, cases, cells and the jobs that runners get.

`toml` reads files with the line of each fault · `scenario` models what they declare, `definitions`
reads them all · `cases` multiplies scenarios by axes, `choose` applies suites and filters ·
`claims`, `settings`, `presets` are published experiments, settings to try and uses · `plan` says
what a run will do · `jobs` turns a case into the contract's job · `authorizer` says what SQL may
do, `compiled` looks at all that a job holds · `fixture`, `generate` make database files and their
values · `runners` describes what is installed here.

Imports: vocabulary, machine.
"""
