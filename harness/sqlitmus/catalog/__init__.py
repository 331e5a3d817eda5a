"""The catalogue: TOML files become scenarios, cases, cells and the jobs that runners get.

`scenario` with its `steps`, `declared` model the files and `definitions` reads them · `cases`
multiplies scenarios by axes · `choose` applies suites and filters · `claims`, `claimfiles` model
published experiments, `canaries` says whom they measure twice · `plan` says what a run will do, of
what is `planned` and `advised` · `jobs` turns a case into the contract's job, with its `pools` ·
`authorizer` says what SQL may do, and `compiled` looks at all that a job holds · `fixture`,
`generate` make database files and their values, `beside` what belongs to them, `databasefiles`
copies them · `runners` describes what is installed here · `same_work` compares the work of two
plans.

Imports: vocabulary, machine.
"""
