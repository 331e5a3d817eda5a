"""What can be measured: TOML files → scenarios, cases, cells and the jobs that runners get.

`definitions` the files as models · `cases` scenarios × axes · `choose` suites and filters → cells
· `shards` a suite in parts · `claims`, `claimfiles` published experiments · `plan` what a run will
do · `jobs` a case → the contract's job · `fixture`, `generate` database files and their values ·
`runners` what is installed here.

Imports: vocabulary, machine.
"""
