"""The figures that a run has of each cell beside its primary time; `figures.toml` is the one table
of them.
"""

import tomllib
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal, get_args

from pydantic import TypeAdapter

from sqlitmus.vocabulary.verdicts import CaseMetric, Verdict

Unit = Literal["ns", "bytes", "count", "share"]
Alike = Literal["processes", "iterations", "neither"]
"""How far the runners of a case did the same: their whole processes, which then do not warm up by
time; only the timed iterations, after the same warm-up; or not even those."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured, how it is combined, judged and written. Smaller is better.

    `heading` stands over a column of a table, `title` over a table, `meaning` in the documents.
    `source` names what is read of an invocation and summed: `timing` is hyperfine's wall clock of
    the whole process, `result` what the runner reports of itself, which of several processes that
    share a job is summed. `whole` is read instead for a figure per operation where a case is about
    the whole process; without it the figure is unknown there.

    With `share_of` it is the share that the source has of these; None where they are nothing.
    A figure per operation is the source over the timed iterations and their units of work, one per
    iteration that over the units of work of an iteration; one of the iterations is that of all that
    were timed, as it is. Over the blocks of a cell the `median` is shown, or the `mean`, which
    loses no rare count. A figure that is `judged` has a ratio to the reference's and a verdict
    where it is of equal work (`compared`); there less of it is called `smaller`. Of other work it
    stands as a plain value, or not at all if it is `of_equal_work` only. `zero` says what a 0 in
    the source is; only what is `signed` may be below it. What is seen `with_resets` is unknown in a
    case that has any while it is timed, since these are no part of its work.
    """

    name: str
    heading: str
    title: str
    meaning: str
    unit: Unit
    per: Literal["process", "operation", "iteration", "iterations"]
    source: tuple[str, ...]
    whole: tuple[str, ...] = ()
    share_of: tuple[str, ...] = ()
    over_blocks: Literal["median", "mean"] = "median"
    judged: bool = True
    of_equal_work: bool = False
    smaller: Literal["faster", "less"] = "less"
    zero: Literal["value", "unknown", "impossible"] = "value"
    signed: bool = False
    with_resets: bool = False

    @property
    def with_unit(self) -> str:
        """Its name and its unit, unless it is a number: `cpu_ns`."""
        return f"{self.name}_{self.unit}" if self.unit in ("ns", "bytes") else self.name

    @property
    def column(self) -> str:
        """Its column in exports: of a unit of work, or of a process."""
        return f"{self.with_unit}_per_unit" if self.per_unit else self.with_unit

    @property
    def per_unit(self) -> bool:
        """Whether it is of a unit of work, of which an iteration has several."""
        return self.per in ("operation", "iteration")

    @property
    def latency(self) -> bool:
        """Whether it is what single operations take, or timers beside them."""
        return self.smaller == "faster" and self.source[0].startswith("tails.")

    @property
    def primary(self) -> bool:
        """Whether it is the primary time of some cases, and has an interval there."""
        return self.name in get_args(CaseMetric)

    def measured(self, invocation: object, iterations: int) -> float | None:
        """Its value in an invocation that has `timing` and `result`; None where a source is.

        `iterations` were timed, none in a case about the whole process.
        """
        source = self.whole if self.per == "operation" and not iterations else self.source
        values = [read(invocation, path) for path in source]
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        total = sum(numbers)
        if self.share_of:
            whole = sum(read(invocation, path) or 0 for path in self.share_of)
            return total / whole if whole else None
        return total / iterations if self.per == "operation" and iterations else total

    def shown(self, alike: Alike) -> bool:
        """Whether its values are shown of a case whose runners did so much of the same."""
        return alike == "processes" or not self.of_equal_work

    def compared(self, alike: Alike) -> bool:
        """Whether it has ratios and verdicts there: per process it is of all that a process did,
        per operation only of the timed iterations."""
        enough = {"processes"} if self.per == "process" else {"processes", "iterations"}
        return self.judged and alike in enough

    def said(self, verdict: Verdict) -> str:
        """The words for a verdict on this figure."""
        return verdict if self.smaller == "faster" else verdict.amount


def read(root: object, path: str) -> float | None:
    """The number at `path` below `root`, such as `switches.voluntary`; None where part of it is."""
    for name in path.split("."):
        if root is None:
            return None
        root = attrgetter(name)(root)
    assert root is None or isinstance(root, int | float)
    return root


_ROW = TypeAdapter(Figure)
FIGURES = tuple(
    _ROW.validate_python({"name": name, **of})
    for name, of in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
)


def named(name: str) -> Figure:
    """The figure of that name; KeyError for none."""
    return {figure.name: figure for figure in FIGURES}[name]


def reported() -> list[str]:
    """Paths in the contract's Result of what runners report, such as `switches.voluntary`."""
    paths = dict.fromkeys(path for figure in FIGURES for path in (*figure.source, *figure.whole))
    return [path.removeprefix("result.") for path in paths if path.startswith("result.")]
