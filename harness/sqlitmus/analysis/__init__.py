"""One run directory → its report as data: who did what, how fast, how surely.

`files`, `columns`, `samples`, `data` what is read · `outcomes`, `cells` who did what, in what time
· `question` what verdicts are given by, `logratios`, `pairs` comparisons · `work` whether all did
the same · `cases`, `standings`, `scaling`, `provenance`, `proofs`, `durability`, `notices`,
`headline`, `method`, `selftest`, `tails` one part of the report each · `warmth` who was not warm ·
`warming`, `refusals`, `untold` what is compared with nothing · `canary` what it showed · `ahead`,
`changes`, `recommendation`, `limits` the decision on a workload · `weighing`, `choices`,
`crossings`, `reweighing`, `variants`, `engines` that by weights · `assemble` puts them together ·
`claims/` published claims.

Imports: vocabulary, stats, machine, catalog, run, results.
"""

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData, from_records
from sqlitmus.analysis.files import load
from sqlitmus.run.records import RunDataError

__all__ = ["RunData", "RunDataError", "analyse", "from_records", "load"]
