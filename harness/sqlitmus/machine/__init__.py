"""This computer: what a report says of it, whether it is fit, and how it fares during a run."""

from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN, facts, identity, kind
from sqlitmus.machine.readiness import checks

__all__ = ["UNKNOWN", "Check", "checks", "facts", "identity", "kind"]
