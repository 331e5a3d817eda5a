"""The options of a session, as given on the command line."""

from dataclasses import dataclass, field
from pathlib import Path

from sqlitmus.catalog.cases import PlannedWorkload
from sqlitmus.catalog.choose import mode_of
from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Mode
from sqlitmus.catalog.settings import PlannedAdvice
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.verdicts import Correction, RunKind, Scheme

MARGIN = 0.02
CLAIMS = "claims"  # the mode of claims unless another is asked for, and their plan's suite


@dataclass(frozen=True, slots=True)
class Options:
    """Options from the command line; times in seconds."""

    suite: str = "quick"
    mode: str | None = None
    kind: RunKind = "suite"
    correction: Correction = "bh"
    filters: list[str] = field(default_factory=list[str])
    cases: list[str] = field(default_factory=list[str])
    runners: list[str] = field(default_factory=list[str])
    reference: str | None = None
    blocks: int | None = None
    time_budget_s: float | None = None
    margin: float = MARGIN
    plan: Path | None = None
    size: str = "m"
    seed: int | None = None
    label: str = ""
    out: Path | None = None
    timeout_s: float | None = None
    fresh: bool = False
    wait: bool = False
    rerun: str = ""
    subjects: list[str] = field(default_factory=list[str])
    claims: list[Claim] = field(default_factory=list[Claim])
    pins: list[int] = field(default_factory=list[int])
    gate: float | None = None
    strict: bool = False
    scheme: Scheme | None = None
    confirms: str | None = None
    machine: str = ""
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None
    show_values: bool = False

    @property
    def whole(self) -> str:
        """The name of what cells are chosen from: the suite, or claims."""
        return CLAIMS if self.claims else self.suite

    @property
    def folder(self) -> Path:
        """Where run directories are written."""
        return self.out or paths.RESULTS

    def mode_in(self, catalog: Catalog) -> tuple[str, Mode]:
        """The mode and its name; raises UsageError when it does not exist."""
        name, mode = mode_of(catalog, self.suite, self.mode or (CLAIMS if self.claims else None))
        return name, mode.model_copy(update={"scheme": self.scheme or mode.scheme})
