"""What the settings advisor tries."""

from collections import Counter

from sqlitmus.catalog.settings import Settings
from sqlitmus.vocabulary.contract.model import Model


class Trial(Model):
    """A setting tried on one group of queries and one database: cases `base` and `new`.

    Where it is not tried, both are "" and `reason` says why.
    """

    setting: str
    group: str
    database: str
    base: str = ""
    new: str = ""
    reason: str = ""


class PlannedAdvice(Model):
    """What the settings advisor tries, on which runner; `workload` is the user's file, if any."""

    settings: Settings
    runner: str
    trials: list[Trial]

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Base and new of each trial, as (case id, runner)."""
        return [((t.base, self.runner), (t.new, self.runner)) for t in self.trials if t.base]

    def canaries(self) -> dict[str, str]:
        """The runner for the case of each set that most others are held against, else ""."""
        cases = {case for (base, _), (new, _) in self.compared() for case in (base, new)}
        bases: dict[str, Counter[str]] = {}
        for trial in self.trials:
            if trial.base:
                bases.setdefault(f"{trial.group}-{trial.database}", Counter())[trial.base] += 1
        repeated = {many.most_common(1)[0][0] for many in bases.values()}
        return {case: self.runner if case in repeated else "" for case in sorted(cases)}
