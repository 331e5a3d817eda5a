"""This computer: its facts, its fitness, its state during a run, and how operating systems differ.

`facts`, `architecture`, `affinity` describe it · `readiness` runs all of doctor's checks ·
`conditions`, `probe`, `activity` observe it · `lock` admits one run at a time ·
`leftovers` lets no process outlive what started it · `clockset` notices that the clock was set ·
`console`, `process_tree`, `priority` hide what differs between systems (`docs/platforms.md`).

Imports: vocabulary.
"""

from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN, facts, identity, kind
from sqlitmus.machine.readiness import checks

__all__ = ["UNKNOWN", "Check", "checks", "facts", "identity", "kind"]
