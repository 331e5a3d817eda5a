"""The cases as the matrix shows them: every text formatted, every coordinate known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols
from sqlitmus.render.document.parts import (
    CPU_PRESSURE,
    IO_PRESSURE,
    LOAD,
    PROBE,
    STEAL,
    THROTTLED,
    UNREADABLE,
    Reading,
    varying_axes,
)
from sqlitmus.render.document.sentences import capital
from sqlitmus.render.document.suite import group_means
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Block, Case, Cell, Report, Runner, Standing
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import Verdict

RUNTIMES = ("node", "bun", "deno", "rust", "dotnet")
ALIASES = {"node.js": "node", ".net": "dotnet"}
SHAPES = 4


@dataclass(frozen=True, slots=True)
class Look:
    """`hue` is a style class; `shape` is the index of a marker and of a dash pattern."""

    hue: str
    shape: int


def looks(runners: Iterable[Runner]) -> dict[str, Look]:
    """A look per runner name; it depends on the runtimes and drivers, never on who is fast."""
    by_name: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for runner in runners:
        key = runner.runtime.lower()
        shape = seen.get(key, 0)
        seen[key] = shape + 1
        runtime = ALIASES.get(key, key)
        hue = runtime if runtime in RUNTIMES else "other"
        by_name[runner.name] = Look(f"k-{hue}", shape % SHAPES)
    return by_name


# A runner's cell of the matrix.


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner in a case, or over a group, against the report's reference.

    `words` say the verdict, or why there is no time; `text` is its ratio, its time or what became
    of it, and `apart` why the time is compared with nothing. The script adds where intervals lie.
    """

    runner: int
    style: str
    words: str
    text: str = ""
    apart: str = ""
    verdict: Verdict | None = None


def entry(place: int, cell: Cell | None, compared: Contrast | None, report: Report) -> Entry:
    """One runner in one case."""
    if cell is None or cell.outcome != "ok" or cell.time is None:
        outcome = symbols.OUTCOMES[cell.outcome] if cell else symbols.ABSENT
        # why a runner is not here is said once, and not in each of its cells
        reason = cell.reason if cell and cell.outcome != "missing" else None
        style = "bad" if cell and cell.outcome in {"wrong", "failed"} else "na"
        return Entry(place, style, reason or "", outcome.label)
    if compared is not None:
        return compared_entry(place, compared, report)
    alone = uncompared(place, report)
    words = (cell.reason if cell.apart else None) or alone.words
    return replace(alone, words=words, text=fmt.time(cell.time)[0], apart=cell.apart or "")


def compared_entry(place: int, contrast: Contrast, report: Report) -> Entry:
    """A runner's ratio to the reference, of a case or of a group."""
    ratio, verdict = contrast.ratio, contrast.verdict
    text, bounds = fmt.ratio(ratio)
    return Entry(
        place,
        symbols.shade(verdict, ratio.value),
        f"{symbols.worded(verdict, report)} {bounds}".rstrip(),
        text,
        verdict=verdict,
    )


def uncompared(place: int, report: Report) -> Entry:
    """A runner that is compared with nothing, as the reference is."""
    of_reference = report.runners[place].name == report.reference
    style, words = ("base", "reference") if of_reference else ("un", "not compared")
    return Entry(place, style, words)


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case as a row of the matrix; `axes` are those that vary within its scenario."""

    index: int
    case: Case
    axes: list[Pair]
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of cases, in report order; `means` are over all of them, of each runner, or none."""

    name: str
    title: str
    cases: list[CaseView]
    means: list[Entry]


@dataclass(frozen=True, slots=True)
class CasesView:
    """All cases, and what the reader may choose of them.

    `runners` are with their look and whether any cell was timed; `figures` those that a cell has,
    by name and title.
    """

    report: Report
    runners: list[tuple[Runner, Look, bool]]
    figures: list[tuple[str, str]]
    profiles: list[str]
    groups: list[GroupView]


def cases_view(report: Report, runners: Sequence[Runner]) -> CasesView:
    """The cases of a report with its `runners`."""
    style = looks(runners)
    timed = {c.runner for case in report.cases for c in case.cells if c.outcome == "ok"}
    measured = {name for case in report.cases for cell in case.cells for name in cell.figures}
    return CasesView(
        report,
        [(runner, style[runner.name], runner.name in timed) for runner in runners],
        [(figure.name, figure.title) for figure in FIGURES if figure.name in measured],
        sorted({c.axes["profile"] for c in report.cases if "profile" in c.axes}),
        group_views(report),
    )


def group_views(report: Report) -> list[GroupView]:
    """All cases by group: the report's groups first, then any that it does not name."""
    varying = varying_axes(report.cases)
    members: dict[str, list[CaseView]] = {group: [] for group in report.groups}
    for index, case in enumerate(report.cases):
        view = case_view(index, case, report, varying[case.scenario])
        members.setdefault(case.group, []).append(view)
    means = group_means(report)
    return [
        GroupView(name, capital(name), cases, mean_entries(name, means, report))
        for name, cases in members.items()
        if cases
    ]


def mean_entries(
    group: str, means: Mapping[tuple[str, str], Standing], report: Report
) -> list[Entry]:
    """A group's geometric mean of each runner; none where no two have one."""
    mine = [means.get((group, runner.name)) for runner in report.runners]
    if not any(mine):
        return []
    return [
        compared_entry(place, mean.contrast, report)
        if mean and mean.contrast
        else uncompared(place, report)
        for place, mean in enumerate(mine)
    ]


def case_view(index: int, case: Case, report: Report, varying: list[str]) -> CaseView:
    """One case against the report's reference."""
    cells = {cell.runner: cell for cell in case.cells}
    against = case.comparisons.against(report.reference)
    return CaseView(
        index,
        case,
        [(name, case.axes[name]) for name in varying if name in case.axes],
        [
            entry(place, cells.get(runner.name), against.get(runner.name), report)
            for place, runner in enumerate(report.runners)
        ],
    )


# Readings of the machine over the blocks, as bars.


WIDTH = 10
HEIGHT = 30
# Less than these full heights would make a quiet machine look restless.
LEAST_PROBE = 0.05
LEAST_SHARE = 0.05
LEAST_LOAD = 1.0
Heights = Callable[[Sequence[float | None]], list[float | None]]


@dataclass(frozen=True, slots=True)
class Strip:
    """One reading over the blocks: bars as an SVG path, "" where it was never read, and its range
    in words."""

    title: str
    bars: str
    said: str


@dataclass(frozen=True, slots=True)
class Strips:
    """All of them, `width` px wide."""

    width: int
    strips: list[Strip]


def strips(report: Report, _: Sequence[Runner]) -> Strips:
    """The strips of a report's blocks."""
    drawn = [strip(reading, heights, report.blocks) for reading, heights in DRAWN]
    return Strips(len(report.blocks) * WIDTH, drawn)


def strip(reading: Reading, heights: Heights, blocks: Sequence[Block]) -> Strip:
    """Bars of one reading and its range."""
    values = [reading.read(block) for block in blocks]
    read = [value for value in values if value is not None]
    if not read:
        return Strip(reading.title, "", UNREADABLE)
    bars = "".join(
        f"M{place * WIDTH + 1} {HEIGHT}v{-HEIGHT * height:.4g}h{WIDTH - 2}V{HEIGHT}"
        for place, height in enumerate(heights(values))
        if height
    )
    low, high = reading.written(min(read)), reading.written(max(read))
    span = low if low == high else f"{low} to {high}"
    unread = len(values) - len(read)
    if unread:
        span += f"; {UNREADABLE} in {counted(unread, 'block')}"
    return Strip(reading.title, bars or f"M0 {HEIGHT}", span)


def over_fastest(values: Sequence[float | None]) -> list[float | None]:
    """Height by how much longer than the fastest, so that a drift of a few percent can be seen."""
    read = [value for value in values if value is not None]
    least = min(read)
    top = max(max(read) / least - 1, LEAST_PROBE)
    return [None if value is None else (value / least - 1) / top for value in values]


def from_zero(least: float) -> Heights:
    """Height in proportion to the largest value, or to `least` if that is larger."""

    def heights(values: Sequence[float | None]) -> list[float | None]:
        top = max([least, *(value for value in values if value is not None)])
        return [None if value is None else value / top for value in values]

    return heights


DRAWN: tuple[tuple[Reading, Heights], ...] = (
    (PROBE, over_fastest),
    (STEAL, from_zero(LEAST_SHARE)),
    (CPU_PRESSURE, from_zero(LEAST_SHARE)),
    (IO_PRESSURE, from_zero(LEAST_SHARE)),
    (LOAD, from_zero(LEAST_LOAD)),
    (THROTTLED, from_zero(1.0)),
)
