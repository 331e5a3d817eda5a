"""One run → its report as data: who did what, how fast, how surely.

`data` what is read · `cells` who did what, in what time, and what is compared with nothing ·
`pairs` every runner against every other, and the canary · `ranking` who is ahead, in groups ·
`choices` by calls · `recommendation` on a workload and of settings · `claim_rows`, `claims` of
published claims · `tails`, `provenance`, `notices` one part of the report each · `assemble` puts
them together · `selftest` what equal copies say of all this.

Imports: vocabulary, stats, machine, catalog, store, results.
"""
