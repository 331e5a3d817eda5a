"""The cases as the matrix shows them: every text formatted, every coordinate known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlitmus.render.document import format as fmt, symbols
from sqlitmus.render.document.parts import READINGS, UNREADABLE, Reading, varying
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Block, Cell, Report, Runner
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import Verdict

RUNTIMES = ("node", "bun", "deno", "rust", "dotnet")
ALIASES = {"node.js": "node", ".net": "dotnet"}
LINES = 6
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


def numbered(place: int) -> Look:
    """The look of the line at a place in its table, where it is no runner's."""
    return Look(f"l-{place % LINES}", place // LINES % SHAPES)


# A runner's cell of the matrix.


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
    time = symbols.time(cell)
    if time.value is None:
        # why a runner is not here is said once, and not in each of its cells
        words = "" if cell and cell.outcome == "missing" else time.tooltip
        return Entry(place, time.style, words, time.text)
    against = of_contrast(place, compared, report)
    if compared is not None:
        return against
    words = (time.tooltip if time.note else "") or against.words
    return replace(against, words=words, text=time.text, apart=time.note)


def of_contrast(place: int, contrast: Contrast | None, report: Report) -> Entry:
    """A runner's ratio to the reference, of a case or of a group; without one it is compared with
    nothing, as the reference is."""
    if contrast is None:
        of_reference = report.runners[place].name == report.reference
        style, words = ("base", "reference") if of_reference else ("un", "not compared")
        return Entry(place, style, words)
    (text, bounds), verdict = fmt.ratio(contrast.ratio), contrast.verdict
    words = f"{symbols.worded(verdict, report)} {bounds}".rstrip()
    return Entry(place, symbols.shade(verdict, contrast.ratio.value), words, text, verdict=verdict)


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case as a row of the matrix; `axes` are those that vary within its scenario."""

    index: int
    title: str
    axes: dict[str, str]
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of cases, in report order; `means` are over all of them, of each runner, or none."""

    name: str
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
    members: dict[str, list[CaseView]] = {group: [] for group in report.groups}
    for index, (case, axes) in enumerate(zip(report.cases, varying(report.cases), strict=True)):
        cells = {cell.runner: cell for cell in case.cells}
        against = case.comparisons.against(report.reference)
        entries = [
            entry(place, cells.get(runner.name), against.get(runner.name), report)
            for place, runner in enumerate(report.runners)
        ]
        members.setdefault(case.group, []).append(CaseView(index, case.title, axes, entries))
    means = report.means()
    groups: list[GroupView] = []
    for name, cases in members.items():
        mine = [means.get((name, runner.name)) for runner in report.runners]
        entries = [
            of_contrast(place, mean and mean.contrast, report) for place, mean in enumerate(mine)
        ]
        if cases:
            groups.append(GroupView(name, cases, entries if any(mine) else []))
    return groups


# Readings of the machine over the blocks, as bars.

WIDTH = 10
HEIGHT = 30


@dataclass(frozen=True, slots=True)
class Strip:
    """One reading over the blocks: bars as an SVG path, "" where it was never read, `width` px
    wide, and its range in words."""

    title: str
    width: int
    bars: str
    said: str


def strips(report: Report, _: Sequence[Runner]) -> list[Strip]:
    """The strips of a report's blocks."""
    return [strip(reading, report.blocks) for reading in READINGS]


def strip(reading: Reading, blocks: Sequence[Block]) -> Strip:
    """Bars of one reading and its range."""
    values = [reading.read(block) for block in blocks]
    read = [value for value in values if value is not None]
    width = len(blocks) * WIDTH
    if not read:
        return Strip(reading.title, width, "", UNREADABLE)
    bars = "".join(
        f"M{place * WIDTH + 1} {HEIGHT}v{-HEIGHT * height:.4g}h{WIDTH - 2}V{HEIGHT}"
        for place, height in enumerate(heights(reading, values))
        if height
    )
    low, high = reading.write(min(read)), reading.write(max(read))
    span = low if low == high else f"{low} to {high}"
    if unread := len(values) - len(read):
        span += f"; {UNREADABLE} in {counted(unread, 'block')}"
    return Strip(reading.title, width, bars or f"M0 {HEIGHT}", span)


def heights(reading: Reading, values: Sequence[float | None]) -> list[float | None]:
    """Shares of the full height; None where nothing was read."""
    if reading.over:
        least = min(value for value in values if value is not None)
        values = [None if value is None else value / least - 1 for value in values]
    top = max([reading.least, *(value for value in values if value is not None)])
    return [None if value is None else value / top for value in values]
