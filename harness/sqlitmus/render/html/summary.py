"""Standings by group as the template of the summary sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.cells import side
from sqlitmus.render.html import charts
from sqlitmus.render.html.assets import sentence
from sqlitmus.render.html.entries import DASH, UNITY, Pair
from sqlitmus.results.report import Report, Runner, Standing
from sqlitmus.vocabulary.verdicts import Verdict

BAR_WIDTH = 120
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


def summary(report: Report, _: Sequence[Runner]) -> list[SummaryGroup]:
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
