"""What verification proved of each case, in words."""

from sqlitmus.analysis.data import RunData
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.judge import Verified
from sqlitmus.vocabulary.nouns import counted, listed


def answered(run: RunData, case: PlannedCase) -> dict[str, Verified]:
    """Per runner the check of its cell, of those that passed."""
    found = ((runner.name, run.checks.get((case.id, runner.name))) for runner in run.plan.runners)
    return {name: check for name, check in found if check is not None and check.outcome == "ok"}


def disagree(checks: dict[str, Verified]) -> bool:
    """Whether passed checks recorded different answers, which only a changed file can hold."""
    answers = {(c.rows, c.affected, c.checksum, c.readback, c.digest) for c in checks.values()}
    return len(answers) > 1


def proven(checks: dict[str, Verified]) -> str:
    """Which runners gave equal answers, and what was equal about them."""
    if not checks:
        return "No runner passed verification."
    if disagree(checks):
        return "The recorded answers disagree; see the notices."
    check = next(iter(checks.values()))
    parts: list[str] = []
    if check.rows:
        parts.append(counted(check.rows, "row"))
    if check.affected:
        parts.append(counted(check.affected, "affected row"))
    parts.append(f"checksum {check.checksum:08x}")
    if check.digest:
        parts.append(f"SHA-256 of all rows {check.digest[:16]}…")
    if check.readback is not None:
        parts.append(f"{counted(check.readback.rows, 'row')} read back afterwards")
    return f"Equal in {listed(list(checks))}: {', '.join(parts)}."
