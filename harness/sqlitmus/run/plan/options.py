"""The options of a session: a field is an option of the command line, with its help and default."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast, get_args

from typer import Option

from sqlitmus.catalog.cases import PlannedWorkload
from sqlitmus.catalog.choose import mode_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import MOST_BLOCKS
from sqlitmus.catalog.published import Claim
from sqlitmus.catalog.scenario import Mode
from sqlitmus.catalog.settings import PlannedAdvice
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown
from sqlitmus.vocabulary.verdicts import Correction, RunKind, Scheme

CLAIMS = "claims"  # the mode of claims unless another is asked for, and their plan's suite
NOT_IN_NAMES = r"[^\w.@+-]"


def _scheme(name: str) -> Scheme:
    if name not in get_args(Scheme):
        raise UsageError(unknown("scheme", name, get_args(Scheme)))
    return cast("Scheme", name)


def _seconds(text: str) -> float:
    """Seconds of `90`, `90s`, `20m` or `1h`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not match or float(match[1]) == 0:
        raise UsageError(
            f"--time-budget {text!r}: expected a number above 0 with s, m or h, such as 20m"
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _percent(option: str, most: float) -> Callable[[object], float]:
    """The parser of a percentage of `most` at most, which is kept as a share."""

    def share(text: object) -> float:
        if isinstance(text, float):  # the default goes through here, too
            return text
        percent = float(str(text)) if re.fullmatch(r"\d+(\.\d*)?", str(text)) else 0.0
        if not 0.1 <= percent <= most:
            raise UsageError(f"{option} {text!r}: expected percent, from 0.1 to {most:g}")
        return percent / 100

    return share


def name_for(option: str) -> Callable[[str], str]:
    """The parser of what becomes a part of a file's name."""

    def checked(text: str) -> str:
        if re.search(NOT_IN_NAMES, text):
            raise UsageError(f"{option} {text!r}: use letters, digits and . _ @ + - only")
        return text

    return checked


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a session; times in seconds, margin and gate as shares.

    Fields with an `Option` are those of the command line, of which a command offers some
    (`cli.options.with_options`); it decides the others.
    """

    suite: Annotated[str, Option(help="smoke, quick, service or full.")] = "quick"
    mode: Annotated[
        str | None,
        Option(help="smoke, quick, hour, standard, rigorous or gate; the suite's own by default."),
    ] = None
    scheme: Annotated[
        Scheme | None,
        Option(
            parser=_scheme,
            metavar="SCHEME",
            help="relay (the processes of a case take turns) or process (one after the other); the "
            "mode's own by default.",
        ),
    ] = None
    filters: Annotated[
        list[str],
        Option(
            "-f",
            "--filter",
            help="Narrow the suite's cells: substring, key:value, -not; all words in one -f match.",
        ),
    ] = field(default_factory=list[str])
    cases: Annotated[list[str], Option("--case", help="These cases, by id.")] = field(
        default_factory=list[str]
    )
    runners: Annotated[list[str], Option("-r", "--runner", help="Only these runners.")] = field(
        default_factory=list[str]
    )
    reference: Annotated[str | None, Option(help="Runner that ratios refer to.")] = None
    blocks: Annotated[int | None, Option(help="Passes over all cells.", min=1, max=MOST_BLOCKS)] = (
        None
    )
    time_budget_s: Annotated[
        float | None,
        Option(
            "--time-budget",
            parser=_seconds,
            metavar="TIME",
            help="As many blocks as fit beside verification and pilot, such as 90s, 20m or 1h.",
        ),
    ] = None
    margin: Annotated[
        float,
        Option(
            parser=_percent("--margin", 50),
            metavar="PERCENT",
            show_default="2",
            help="Differences below this do not matter.",
        ),
    ] = 0.02
    gate: Annotated[
        float | None,
        Option(
            parser=_percent("--gate", 100),
            metavar="PERCENT",
            help="Exit 1 if a case is slower by more than this, and a second, freshly seeded "
            "measurement confirms it; 4 if a case has no time on either side; 5 if an answer is "
            "wrong. What is too noisy to tell is named.",
        ),
    ] = None
    strict: Annotated[
        bool, Option("--strict", help="With --gate: exit 6 if a case is too noisy to tell.")
    ] = False
    counts: Annotated[
        Path | None,
        Option(
            parser=paths.given,
            metavar="RUN",
            help="Take the counts from this run's plan; no pilot.",
        ),
    ] = None
    size: Annotated[str, Option(help="Fixture size: s, m or l.")] = "m"
    seed: Annotated[int | None, Option(help="Seed of the order.")] = None
    label: Annotated[
        str, Option(parser=name_for("--label"), help="Ends the name of the run directory.")
    ] = ""
    out: Annotated[
        Path | None,
        Option(parser=paths.given, metavar="FOLDER", help="Folder for run directories."),
    ] = None
    timeout_s: Annotated[
        float | None,
        Option(
            "--timeout",
            help="Seconds that one invocation may take; the mode's own by default.",
            min=0.1,
        ),
    ] = None
    machine: Annotated[
        str,
        Option(
            parser=name_for("--machine"),
            help="Name of this machine in merged reports, such as linux-x64.",
        ),
    ] = ""
    show_values: Annotated[
        bool,
        Option(
            help="Keep the jobs and results of what goes wrong, which hold values of the database."
        ),
    ] = False
    fresh: Annotated[bool, Option(help="Forget earlier verifications and timings.")] = False
    wait: Annotated[bool, Option(help="Wait for another run on this machine to end.")] = False
    quiet: Annotated[bool, Option("-q", "--quiet", help="No progress.")] = False
    kind: RunKind = "suite"
    correction: Correction = "bh"
    rerun: str = ""
    subjects: list[str] = field(default_factory=list[str])
    sources: dict[str, str] = field(default_factory=dict[str, str])
    claims: list[Claim] = field(default_factory=list[Claim])
    pins: list[int] = field(default_factory=list[int])
    confirms: str | None = None
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None

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
