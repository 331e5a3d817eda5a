"""From a run directory to the report model: who did what, how fast, how surely.

`files`, `samples`, `data` what is read · `outcomes`, `cells` who did what, in what time · `pairs`
comparisons · `standings`, `scaling`, `provenance`, `checks`, `notices`, `headline`, `method` one
part of the report each · `assemble` puts them together · `claims` and what begins so: published
claims · `sources`, `joined`, `survey`, `holds`, `merged` several machines.
"""

from .assemble import analyse
from .data import RunData, RunDataError, from_records
from .files import load

__all__ = ["RunData", "RunDataError", "analyse", "from_records", "load"]
