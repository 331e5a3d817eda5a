"""This computer: its facts, whether it is fit, how it fares during a run, how its system differs.

`facts`, `architecture`, `affinity` what it is · `readiness` all of doctor's checks · `conditions`,
`probe`, `activity` how it fares · `lock` one run at a time · `console`, `process_tree`, `priority`
what systems do differently (`docs/platforms.md`).

Imports: vocabulary.
"""

from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN, facts, identity, kind
from sqlitmus.machine.readiness import checks

__all__ = ["UNKNOWN", "Check", "checks", "facts", "identity", "kind"]
