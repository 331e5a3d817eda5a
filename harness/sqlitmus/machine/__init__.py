"""This computer: its facts, its fitness, its state during a run, and how operating systems differ.

`host` describes it · `readiness` runs all of doctor's checks · `conditions` observes it ·
`lock` admits one run at a time · `process_tree` lets no process outlive what started it · `system`
hides what differs between systems (`docs/platforms.md`) · `plainfiles` reads and replaces files.

Imports: vocabulary.
"""

from sqlitmus.machine.host import UNKNOWN, facts, identity, kind
from sqlitmus.machine.readiness import Check, checks

__all__ = ["UNKNOWN", "Check", "checks", "facts", "identity", "kind"]
