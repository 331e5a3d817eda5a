"""Published claims as experiments: their evidence, their figures, and how far these are known.

The evidence are the files of the commit that the figures come from, how the authors' own programs
are run here, and what a publication without programs states of its work. A ratio is base / new;
what a new cell saves is base - new in ms.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import hypot, sqrt
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.verdicts import ClaimMetric, Ends, PublishedKind

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Program(Model):
    """A program of the authors, started as a process of its own in `folder`.

    Words of `command` may name tools, such as {node}. Its output must match `prints`, which tells
    whether it did its work; a group `figure` in it is the program's own figure: ns of a unit of
    work, or units in a second if it is a `rate`. Rows that compare times of processes need none.
    """

    command: Annotated[list[str], Field(min_length=1)]
    prints: str
    rate: bool = False
    folder: str = "."

    def figure(self, output: str) -> float | None:
        """What the program printed, in ns; None without a figure. Raises ValueError for an output
        that is not as it should be."""
        match = re.search(self.prints, output)
        if match is None:
            last = (output.strip().splitlines() or ["nothing"])[-1]
            raise ValueError(f"it printed {last[:120]!r}, not what matches {self.prints!r}")
        if (text := match.groupdict().get("figure")) is None:
            return None
        value = float(text.replace(",", ""))
        if not 0 < value < float("inf"):
            raise ValueError(f"it printed the figure {text}, which is no time")
        return 1e9 / value if self.rate else value


class Evidence(Model):
    """What the publication's figures were measured with: `files` of `commit` in `repository` with
    the SHA-256 of each, under `licence`.

    The `programs` run in a copy of these files, never in the user's folder, after the commands
    `setup`. The copy has links to `packages` that the runners use, by the folder that they are
    put into, and scripts find modules in the folder that the user gave, which must hold `needs`.
    Commands may also name tools of `versions`, such as `node22 = "node@22.14.0"`; without the tool
    they are left out.
    """

    repository: str
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    licence: str
    files: Annotated[dict[str, Hash], Field(min_length=1)]
    packages: dict[str, str] = {}
    needs: list[str] = []
    versions: dict[str, str] = {}
    hint: str = ""
    setup: list[Program] = []
    programs: dict[str, Program] = {}

    def differences(self, folder: Path) -> Iterator[str]:
        """Which files in `folder` are not those that the claim pins, and what is missing."""
        for name, pinned in self.files.items():
            try:
                actual = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            except OSError as error:
                yield f"{name}: {error.strerror}"
            else:
                if actual != pinned:
                    yield f"{name} is another than that of {self.commit[:7]}"
        for name in self.needs:
            if not (folder / name).exists():
                yield f"{name} is missing: {self.hint}"


def matching(evidence: dict[str, Evidence], sources: list[Path]) -> dict[str, Path]:
    """The folder of `sources` for each claim whose `evidence` it holds.

    Raises UsageError for a folder that holds nobody's, with what differs from the nearest.
    """
    of: dict[str, Path] = {}
    for source in sources:
        differing = {name: [*each.differences(source)] for name, each in evidence.items()}
        fitting = [name for name, differences in differing.items() if not differences]
        of |= dict.fromkeys(fitting, source)
        if fitting:
            continue
        if not differing:
            raise UsageError(f"--source {source}: no claim of these names programs of its authors")
        nearest = min(differing, key=lambda name: len(differing[name]))
        pinned = evidence[nearest]
        raise UsageError(
            f"--source {source} is not what the claim {nearest} was published with: "
            f"{'; '.join(differing[nearest][:3])}. Expected {pinned.repository} at "
            f"{pinned.commit[:7]}"
        )
    return of


Stated = dict[str, int | str]
ABOUT = 0.05  # of a length, which publications round


class Fact(Model):
    """What a publication states of its experiment, in its own words, and what `case` then has:
    names and values of its `jobs.work`."""

    said: Annotated[str, Field(min_length=1)]
    case: str
    holds: Annotated[Stated, Field(min_length=1)]

    def differences(self, here: Stated) -> Iterator[tuple[str, str]]:
        """(name, what differs) of all that the case has otherwise `here` than stated."""
        for name, value in self.holds.items():
            if name not in here:
                yield name, f"{self.case} has no such thing; expected {', '.join(sorted(here))}"
            elif not _agree(name, value, here[name]):
                yield name, f"published: {value}, but {self.case} has {here[name]}; mend the case"


def _agree(name: str, stated: int | str, here: int | str) -> bool:
    if name.startswith("length of ") and isinstance(stated, int) and isinstance(here, int):
        return abs(here - stated) <= ABOUT * stated
    return here == stated


class CellTemplate(Model):
    """A case id, and a runner when the claim compares two runners, or one of a runner's versions,
    such as `node@24.13.0`."""

    case: str
    runner: str | None = None


class ClaimRow(Model):
    """One published figure.

    `published` is base / new, or in a group of differences base - new in ms; a row without it is
    shown without a verdict. `said` quotes the publication. `ends` are between what the figure lies,
    where `said` does not state it, such as by the ticks of a clock, and of a range always. A bound
    is "at least" or "at most" an effect of this size. `values` fill the braces of the group's
    cells; `theirs` are the authors' programs for base and new. The `key` rows decide the claim;
    without key rows, all rows do.
    """

    name: str
    published: float | None = None
    kind: PublishedKind = "ratio"
    ends: Ends | None = None
    said: str = ""
    values: dict[str, str] = {}
    theirs: tuple[str, str] | None = None
    untestable: str = ""
    key: bool = False


class ClaimGroup(Model):
    """Rows of one kind: which cells are compared, by which metric, on which runners.

    Times are per operation, or per returned row when `per` is "row"; `wall` is the time of the
    process. What is published and measured is a ratio or a difference, as `compare` says: of waits
    of a fixed length a ratio would have another machine in its denominator. `expects` "no effect"
    holds when the interval lies within the factor `tolerance` of 1, or within what the publication
    could tell from it; of an effect `tolerance` is what another machine may change it by, as
    `stats.expectation.Expectation` says, and decides no word. The machine needs at least `cores`
    cores to show the claim. A group of nothing but untestable rows names no cells.
    """

    title: str
    metric: ClaimMetric
    base: CellTemplate = CellTemplate(case="")
    new: CellTemplate = CellTemplate(case="")
    runners: list[str] = []
    expects: Literal["effect", "no effect"] = "effect"
    compare: Literal["ratio", "difference"] = "ratio"
    tolerance: Annotated[float, Field(gt=1)] = 1.5
    per: Literal["operation", "row"] = "operation"
    cores: int = 1
    rows: Annotated[list[ClaimRow], Field(min_length=1)]

    def uncertainty(self, row: ClaimRow) -> Ends | None:
        """Between which ends the figure of `row` was published; None without a figure."""
        if row.published is None:
            return None
        saves = self.compare == "difference"
        return row.ends or uncertainty(row.published, row.said, saves=saves)

    def pairs(self, row: ClaimRow) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """(case id, runner) of base and new, once for each runner."""
        base, new = (cell.case.format(**row.values) for cell in (self.base, self.new))
        named = [str(cell.runner).format(**row.values) for cell in (self.base, self.new)]
        for base_runner, new_runner in [(name, name) for name in self.runners] or [named]:
            yield (base, base_runner), (new, new_runner)


class Lessons(Model):
    """The advice for a service, in one line for each possible outcome.

    `different` is for an effect that is smaller than published, and for a larger one unless there
    is `larger`; `reversed` also for no effect where one was published, and the other way round.
    """

    reproduced: str
    compatible: str = (
        "The effect is here, too; whether it is as large as published, more blocks would tell."
    )
    other_work: str = (
        "The authors' own programs behave otherwise here than this repetition: mend it before you "
        "take anything from it."
    )
    different: str
    larger: str = ""
    unresolved: str
    reversed: str
    untestable: str


class ClaimTable(Model):
    """Cells shown side by side by `metric`: every case on every runner.

    A ranking lists the fastest first. A scaling has the threads of all processes on its axis and a
    line for each combination of the other axes. A histogram has a logarithmic axis; with `step_ms`
    it has a linear axis with a tick at each step.
    """

    title: str
    metric: ClaimMetric
    cases: Annotated[list[str], Field(min_length=1)]
    runners: Annotated[list[str], Field(min_length=1)]
    kind: Literal["ranking", "scaling", "histogram"] = "ranking"
    step_ms: Annotated[float, Field(gt=0)] | None = None


class Claim(Model):
    """A publication and the experiment that measures it again.

    It pinned processes to `pins` processors, 0 if it did not. `contradicts` names the claim whose
    publication says otherwise; it names this one. `facts` hold the cases to what the publication
    states of its work.
    """

    name: str
    title: str
    source: str
    published_on: str
    hypothesis: str
    contradicts: str = ""
    evidence: Evidence | None = None
    facts: list[Fact] = []
    differences: list[str] = []
    untestable: list[str] = []
    pins: Annotated[int, Field(ge=0)] = 0
    lessons: Lessons
    groups: Annotated[list[ClaimGroup], Field(min_length=1)]
    tables: list[ClaimTable] = []

    @property
    def rows(self) -> list[ClaimRow]:
        """Those of all groups."""
        return [row for group in self.groups for row in group.rows]

    def with_key_rows(self) -> "Claim":
        """The claim with the rows that decide it, and what is not testable; without its tables."""
        if not any(row.key for row in self.rows):
            return self
        groups = [
            group.model_copy(update={"rows": rows})
            for group in self.groups
            if (rows := [row for row in group.rows if row.key or row.untestable])
        ]
        return self.model_copy(update={"groups": groups, "tables": []})

    def compared(
        self, cores: int | None = None
    ) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """Base and new, as (case id, runner), of all rows that can be tested.

        `cores` leaves out the groups that need more cores.
        """
        for group in self.groups:
            if cores is None or group.cores <= cores:
                for row in group.rows:
                    if not row.untestable:
                        yield from group.pairs(row)

    def cells(self, cores: int | None = None) -> Iterator[tuple[str, str]]:
        """Every (case id, runner) that the claim needs, repeats included.

        `cores` leaves out the groups that need more cores.
        """
        for pair in self.compared(cores):
            yield from pair
        for table in self.tables:
            yield from product(table.cases, table.runners)


# How far the ratio of two rounded figures may lie from the ratio that a row gives.
ROUNDING = 0.015

_SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_UNIT = r"[\w ]*/s|TPS|ns|[µμu]s|ms|s|min|h|%|×|x|times|[KMG]?i?B|bytes|cycles"
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_HAS_UNIT = re.compile(rf"\d\s*(?:{_UNIT})(?!\w)")


def _figure(name: str) -> str:
    """A figure's pattern: `86.2 ± 1.3 ms of 33 runs`, `23,015 ± 0.11 % ops/s`."""
    return (
        rf"(?P<{name}>{_NUMBER})(?:\s*±\s*(?P<{name}_error>{_NUMBER})"
        rf"(?P<{name}_share>\s*%(?=\s+(?!against)\S))?)?"
        rf"(?:\s*(?P<{name}_unit>{_UNIT}))?(?:\s+of\s+(?P<{name}_runs>\d+)\s+runs)?"
    )


_TWO = re.compile(rf"{_figure('first')}\s+against\s+{_figure('second')}(?!\w)")
_PERCENT = re.compile(rf"(?P<sign>[+−-])\s*{_figure('gain')}")
_TIMES = re.compile(rf"{_figure('ratio')}(?!\w)")
_RATIO_UNITS = ("×", "x", "times")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A published figure with half the width of what it may be: the published uncertainty if
    `stated`, else half a unit of its last digit."""

    value: float
    half: float
    stated: bool

    def over(self, other: "_Figure") -> tuple[float, Ends]:
        """The ratio and its ends: independent uncertainties add in squares, of digits both may
        round the same way."""
        ratio = self.value / other.value
        if self.stated and other.stated:
            share = hypot(self.half / self.value, other.half / other.value)
            return ratio, (ratio / (1 + share), ratio * (1 + share))
        most = (self.value + self.half) / max(other.value - other.half, other.value / 2)
        return ratio, ((self.value - self.half) / (other.value + other.half), most)


def _read(match: re.Match[str], name: str, scale: float = 1.0) -> _Figure:
    """The figure called `name`. A spread of so many runs is that of one; their mean is known to
    about 2 / sqrt(runs) of it."""
    text, error, runs = (match[name + part] for part in ("", "_error", "_runs"))
    value = float(text.replace(",", ""))
    if error is None:
        return _Figure(value * scale, _resolution(text) * scale, stated=False)
    half = float(error.replace(",", "")) * (value / 100 if match[f"{name}_share"] else 1)
    return _Figure(value * scale, half * (2 / sqrt(int(runs)) if runs else 1) * scale, stated=True)


def _resolution(text: str) -> float:
    """Half a unit of the last digit."""
    last = int(Decimal(text.replace(",", "")).as_tuple().exponent)
    return float(Decimal(5).scaleb(last - 1))


def figure_problems(published: float, words: str, *, saves: bool = False) -> Iterator[str]:
    """What is wrong with a published figure and the words that it was taken from: a ratio, base /
    new, or what the new cell `saves`, base - new in ms."""
    if not words.strip():
        yield "a published figure needs `said`: the publication's own figures, with their unit"
    elif re.search(r"\d", words) and not _HAS_UNIT.search(words):
        yield f"said = {words!r}: a figure without a unit; add ms, %, times, rows/s …"
    elif saves:
        saved = _saved_ms(words)
        if saved and _apart(published, saved[0]) > ROUNDING:
            yield f"published = {published:g}, but {words!r} saves {saved[0]:.4g} ms; correct one"
    else:
        stated = _ratio(words)
        ratio = stated[0] if stated else published
        if min(_apart(published, ratio), _apart(published, 1 / ratio)) > ROUNDING:
            yield (
                f"published = {published:g}, but {words!r} gives {ratio:.4g} or {1 / ratio:.4g}; "
                "correct one of them"
            )


def uncertainty(published: float, words: str, *, saves: bool = False) -> Ends:
    """Between which ends the published figure lies: by what the publication states beside it (±,
    and the number of runs), else by the digits of its own figures, else by those of `published`."""
    stated = _saved_ms(words) if saves else _ratio(words)
    if stated is None:
        half = _resolution(repr(published))
        return published - half, published + half
    value, (low, high) = stated
    if not saves and _apart(published, value) > ROUNDING:
        low, high = 1 / high, 1 / low
    return min(low, published), max(high, published)


def _ratio(words: str) -> tuple[float, Ends] | None:
    """The ratio that the words state, and its ends; None where they do not begin with one, or with
    two figures of which there is one."""
    two = _TWO.match(words)
    if two and two["second_unit"]:
        if times := _seconds(two):
            first, second = times
        elif two["first_unit"] in (None, two["second_unit"]):
            first, second = _read(two, "first"), _read(two, "second")
        else:
            return None
        return first.over(second) if first.value and second.value else None
    percent = _PERCENT.match(words)
    if percent and percent["gain_unit"] == "%":
        gain = _read(percent, "gain", 0.01)
        ratio = 1 + gain.value if percent["sign"] == "+" else 1 - gain.value
        return ratio, (ratio - gain.half, ratio + gain.half)
    times = _TIMES.match(words)
    if times and times["ratio_unit"] in _RATIO_UNITS:
        figure = _read(times, "ratio")
        return figure.value, (figure.value - figure.half, figure.value + figure.half)
    return None


def _saved_ms(words: str) -> tuple[float, Ends] | None:
    """By how much the two times differ that the words begin with, and the ends of that; None where
    they do not."""
    two = _TWO.match(words)
    times = _seconds(two) if two else None
    if times is None:
        return None
    halves = [each.half for each in times]
    half = hypot(*halves) if all(each.stated for each in times) else sum(halves)
    saved = abs(times[0].value - times[1].value)
    return saved * 1e3, ((saved - half) * 1e3, (saved + half) * 1e3)


def _seconds(two: re.Match[str]) -> tuple[_Figure, _Figure] | None:
    """Both figures in seconds, if they are times."""
    units = two["first_unit"] or two["second_unit"], two["second_unit"]
    if not all(unit in _SECONDS for unit in units):
        return None
    first, second = (_SECONDS[str(unit)] for unit in units)
    return _read(two, "first", first), _read(two, "second", second)


def _apart(ratio: float, other: float) -> float:
    return abs(ratio / other - 1)
