"""The page's other sections as the templates see them: summary, scaling, overhead, provenance."""

from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.cells import side
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.html import charts
from sqlitmus.render.html.assets import sentence
from sqlitmus.render.html.entries import DASH, UNITY, Judged, Pair, over_floor
from sqlitmus.render.html.look import looks
from sqlitmus.results.conditions import Fact
from sqlitmus.results.curves import Scaling
from sqlitmus.results.report import Case, Cell, Report, Standing
from sqlitmus.vocabulary.verdicts import Verdict

BAR_WIDTH = 120
OVERHEAD_WIDTH = 80
WITHOUT = "without result"
# What a standing counts: its words, its sign, and its style class; in the order of `embed`.
COUNTS = (
    ("faster", Verdict.MATERIALLY_FASTER.symbol, "t-faster"),
    ("slower", Verdict.MATERIALLY_SLOWER.symbol, "t-slower"),
    ("equivalent", Verdict.EQUIVALENT.symbol, "t-equivalent"),
    ("not resolved", Verdict.NOT_RESOLVED.symbol, "t-unresolved"),
    (WITHOUT, "\u2205", "t-not_ok"),
)


@dataclass(frozen=True, slots=True)
class StandingView:
    """A runner in a group: its mean ratio, where that lies, and its cases as (kind, sign, count).

    `bar` is the same as (style class, x, width) in px; both are empty for the reference.
    """

    runner: int
    name: str
    style: str
    ratio: Pair
    mark: charts.Mark | None
    counts: list[tuple[str, str, int]]
    bar: list[tuple[str, float, float]]

    @property
    def signs(self) -> str:
        """ "3▲ 1?": what occurs."""
        return " ".join(f"{count}{sign}" for _, sign, count in self.counts if count)

    @property
    def words(self) -> str:
        """The same in words; cases without a result only where there are any."""
        return ", ".join(
            f"{count} {kind}" for kind, _, count in self.counts if count or kind != WITHOUT
        )


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A group's standings against the report's reference, smallest estimate first."""

    name: str
    title: str
    cases: int
    axis: charts.RatioAxis
    rows: list[StandingView]


def summary(report: Report) -> list[SummaryGroup]:
    """Standings by group, as far as there are any for the report's reference."""
    places = {runner.name: place for place, runner in enumerate(report.runners)}
    groups: list[SummaryGroup] = []
    for group in report.groups:
        mine = [s for s in report.standings if s.group == group and s.reference == report.reference]
        if not mine:
            continue
        ratios = [s.ratio for s in mine if s.ratio]
        axis = charts.ratio_axis(ratios, charts.SUMMARY_WIDTH, charts.FOREST_PAD)
        cases = max(s.cases for s in mine)
        mine.append(Standing(report.reference, report.reference, group, UNITY, 0, 0, 0, 0, 0, 0))
        mine.sort(key=lambda s: s.ratio.value if s.ratio else float("inf"))
        rows = [standing(s, places[s.runner], axis) for s in mine if s.runner in places]
        groups.append(SummaryGroup(group, sentence(group), cases, axis, rows))
    return groups


def standing(s: Standing, place: int, axis: charts.RatioAxis) -> StandingView:
    """One runner in one group."""
    if s.runner == s.reference:
        return StandingView(place, s.runner, "base", ("1×", "reference"), axis.mark(UNITY), [], [])
    numbers = (s.faster, s.slower, s.equivalent, s.unresolved, s.not_ok)
    counts = [(kind, sign, n) for (kind, sign, _), n in zip(COUNTS, numbers, strict=True)]
    if s.ratio is None:
        ratio, style, mark = (DASH, "not compared"), "un", None
    else:
        ratio, style, mark = fmt.ratio(s.ratio), side(s), axis.mark(s.ratio)
    return StandingView(place, s.runner, style, ratio, mark, counts, segments(numbers))


def segments(counts: tuple[int, ...]) -> list[tuple[str, float, float]]:
    """A stacked bar as (style class, x, width) in px."""
    total = sum(counts) or 1
    parts: list[tuple[str, float, float]] = []
    place = 0.0
    for (_, _, style), count in zip(COUNTS, counts, strict=True):
        width = BAR_WIDTH * count / total
        if count:
            parts.append((style, round(place, 1), round(width, 1)))
        place += width
    return parts


@dataclass(frozen=True, slots=True)
class ScalingView:
    """One parallel scenario: its panels and the same numbers as a table."""

    scaling: Scaling
    panels: list[charts.Panel]
    workers: list[int]
    rows: list[tuple[str, list[tuple[str, str]]]]


def scaling(report: Report) -> list[ScalingView]:
    """Panels and tables of every parallel scenario that has points."""
    runtimes = {runner.name: runner.runtime for runner in report.runners}
    views: list[ScalingView] = []
    for item in report.scaling:
        panels = charts.scaling_panels(item, runtimes)
        if not panels:
            continue
        workers = sorted({point.workers for curve in item.curves for point in curve.points})
        rows: list[tuple[str, list[tuple[str, str]]]] = []
        for curve in item.curves:
            rates = {point.workers: fmt.rate(point.rate) for point in curve.points}
            rows.append((curve.runner, [rates.get(count, (DASH, "")) for count in workers]))
        views.append(ScalingView(item, panels, workers, rows))
    return views


@dataclass(frozen=True, slots=True)
class OverheadCell:
    """What a runner takes over the floor: a bar from 0 to `end` with a whisker from `low` to
    `high`, in px."""

    over: Judged
    hue: str
    end: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OverheadRow:
    """One case: the floor's time and an overhead per runner, None where it has none."""

    index: int
    case: Case
    axes: list[Pair]
    floor: str
    cells: list[OverheadCell | None]


def overhead(report: Report) -> tuple[list[str], list[tuple[str, list[OverheadRow]]]]:
    """Runners that have an overhead, and rows by group. Bars are scaled within their row."""
    have = {c.runner for case in report.cases for c in case.cells if c.overhead}
    runners = [r.name for r in report.runners if r.name in have and r.name != report.floor]
    varying = varying_axes(report.cases)
    style = looks(report.runners)
    groups: dict[str, list[OverheadRow]] = {}
    for index, case in enumerate(report.cases):
        cells = {cell.runner: cell for cell in case.cells}
        base = cells.get(report.floor or "")
        overheads = [cells[name].overhead for name in runners if name in cells]
        if base is None or base.time is None or not any(overheads):
            continue
        top = max(max(o.value, o.high or o.value) for o in overheads if o)
        axes = [(n, case.axes[n]) for n in varying[case.scenario] if n in case.axes]
        row = [overhead_cell(cells.get(name), top, style[name].hue) for name in runners]
        view = OverheadRow(index, case, axes, fmt.time(base.time)[0], row)
        groups.setdefault(case.group, []).append(view)
    return runners, [(sentence(name), rows) for name, rows in groups.items()]


def overhead_cell(cell: Cell | None, top: float, hue: str) -> OverheadCell | None:
    """One bar; a negative overhead has no length but keeps its number."""
    if cell is None or cell.overhead is None:
        return None
    value, low, high = cell.overhead.value, cell.overhead.low, cell.overhead.high

    def place(number: float) -> float:
        return round(OVERHEAD_WIDTH * min(max(number / top, 0.0), 1.0), 1) if top > 0 else 0.0

    ends = (place(value), place(value if low is None else low), place(high or value))
    return OverheadCell(over_floor(cell), hue, *ends)


OPEN_FACTS = 12


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts of one kind: those that differ as (name, value per runner), the others as (name,
    value)."""

    title: str
    differing: list[tuple[str, list[str]]]
    same: list[tuple[str, str]]

    @property
    def folded(self) -> bool:
        """Whether the differences are too many to stand open, as those of compile options."""
        return len(self.differing) > OPEN_FACTS


def provenance(report: Report) -> tuple[list[str], list[FactGroup]]:
    """Runners that any fact speaks of, and the facts by group."""
    spoken = {name for fact in report.provenance for name in fact.values}
    runners = [runner.name for runner in report.runners if runner.name in spoken]
    groups: dict[str, list[Fact]] = {}
    for fact in report.provenance:
        groups.setdefault(fact.group, []).append(fact)
    views: list[FactGroup] = []
    for name, facts in groups.items():
        differing = [
            (fact.name, [fact.values.get(runner, "unknown") for runner in runners])
            for fact in facts
            if fact.differs
        ]
        same = [
            (fact.name, next(iter(fact.values.values()), "unknown"))
            for fact in facts
            if not fact.differs
        ]
        views.append(FactGroup(sentence(name), differing, same))
    return runners, views
