"""The rows of all claims of a run: published ratio, own ratio, verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from math import exp

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.claims.details import width
from sqlitmus.analysis.claims.series import NotHereError, Series, log_means, median, shared, some
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.notices import cores
from sqlitmus.analysis.pairs import Question
from sqlitmus.analysis.rates import rate_tests
from sqlitmus.catalog import claims
from sqlitmus.results.claims import Group, Row, Unit
from sqlitmus.results.estimate import Interval, Speedup
from sqlitmus.stats.claim import Decision, Published, Why, decide
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.nouns import counted

_REASONS: dict[Why, str] = {
    "few blocks": f"fewer than {MIN_BLOCKS} blocks in which both have a value",
    "no interval": "the same ratio in most blocks, so no interval can be had",
    "includes 1": "the interval includes 1",
    "corrected": "not resolved after the correction for all rows of the run",
    "noise": "within what the canary did to itself",
    "neither": "neither a difference nor its absence is resolved",
    "other side": "the difference is the other way round here",
    "an effect": "an effect where none was published",
    "same size": "{low:.3g} to {high:.3g} counts as the same",
    "smaller": "smaller: {low:.3g} to {high:.3g} would count as the same",
    "larger": "larger: {low:.3g} to {high:.3g} would count as the same",
    "no effect": "within {low:.3g} to {high:.3g}, which counts as no effect",
}
_OF_DIFFERENCES: dict[Why, str] = {
    **_REASONS,
    "no interval": "the same difference in most blocks, so no interval can be had",
    "includes 1": "the interval includes 0",
    "same size": "{low:.3g} to {high:.3g} ms counts as the same",
    "smaller": "smaller: {low:.3g} to {high:.3g} ms would count as the same",
    "larger": "larger: {low:.3g} to {high:.3g} ms would count as the same",
}
NS_PER_MS = 1e6
PAGE = 4096  # files are whole pages of it


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row and, where both of its cells are here, what their times are of, base and new by block,
    and their noise, as a log ratio of times."""

    claim: int
    group: claims.ClaimGroup
    row: Row
    unit: Unit | None = None
    times: tuple[Array, Array] | None = None
    guard: float = 0.0

    @property
    def width(self) -> float:
        """How finely the times are told apart, as a log ratio."""
        if self.group.metric == "file" and self.times is not None:
            return PAGE / float(min(map(np.nanmin, self.times)))
        return width(self.group.metric)

    def published(self) -> Published | None:
        """What the row is held against; None where no ratio was published."""
        if self.row.published is None:
            return None
        group, figure = self.group, self.row.published
        if self.scale_ns is not None:
            figure = exp(figure / self.scale_ns)
        return Published(figure, group.tolerance, group.expects == "effect")

    @property
    def scale_ns(self) -> float | None:
        """In units of this, differences are judged as log ratios are; None in a group of ratios.

        So small are they in it that those within the tolerance of the published one, as a factor,
        count as the same.
        """
        if self.group.compare == "ratio" or self.times is None:
            return None
        return 2 * max(self.row.published or 0.0, *(float(np.nanmax(t)) for t in self.times))

    def sides(self) -> tuple[Array, Array]:
        """By block, the two values whose log ratio is the row's figure."""
        assert self.times is not None
        base, new = self.times
        if self.scale_ns is None:
            return base, new
        difference = (base - new) / self.scale_ns
        return np.exp(difference), np.exp(0 * difference)

    def noise(self, of_ratio: float) -> float:
        """A log ratio of times by which base or new is uncertain, as one of the row's figure."""
        if self.scale_ns is None or self.times is None:
            return of_ratio
        return float(np.expm1(of_ratio) * max(map(np.nanmedian, self.times)) / self.scale_ns)


def claim_groups(run: RunData, series: Series) -> list[list[Group]]:
    """Per claim its groups. Verdicts are corrected together over all rows with a published
    ratio."""
    drafts = [
        draft
        for number, claim in enumerate(run.plan.claims)
        for group in claim.groups
        for draft in _drafts(series, number, group, cores(run.machine))
    ]
    rows = list(zip(drafts, _finished(drafts, Question.of(run.plan)), strict=True))
    return [
        [
            Group(
                group.title,
                group.metric,
                _unit(group, drafts),
                [row for draft, row in rows if draft.group is group],
                group.compare,
            )
            for group in claim.groups
        ]
        for claim in run.plan.claims
    ]


def _drafts(
    series: Series, number: int, group: claims.ClaimGroup, have: int | None
) -> Iterator[_Draft]:
    """The rows of a group, once for each runner; `have` are the machine's cores."""
    for row in group.rows:
        published = row.published
        if published is not None and group.compare == "difference":
            published *= NS_PER_MS
        blank = Row(row.name, "", "", "", row.said, published, "not testable here", "", key=row.key)
        why = row.untestable
        if not why and have is not None and group.cores > have:
            why = f"needs {counted(group.cores, 'core')}; this machine has {have}"
        if why:
            yield _Draft(number, group, replace(blank, reason=why))
            continue
        for base, new in group.pairs(row):
            named = replace(
                blank,
                runner=base[1] if base[1] == new[1] else f"{base[1]}, {new[1]}",
                base="/".join(base),
                new="/".join(new),
            )
            try:
                yield _measured(series, base, new, _Draft(number, group, named))
            except NotHereError as error:
                yield _Draft(number, group, replace(named, reason=str(error)))


def _measured(series: Series, base: tuple[str, str], new: tuple[str, str], draft: _Draft) -> _Draft:
    """The draft with both figures; raises NotHereError where there is none."""
    metric, spots = draft.group.metric, (series.spot(*base), series.spot(*new))
    if metric == "wall":
        base_work, new_work = map(series.work, spots)
        if base_work is None or new_work is None:
            raise NotHereError("a process that warms up by time did no fixed number of operations")
        if base_work != new_work:
            raise NotHereError("the two processes were given different numbers of operations")
    values: list[Array] = []
    for spot, (case, runner) in zip(spots, (base, new), strict=True):
        blocks = series.blocks(metric, spot)
        if np.isnan(blocks).all():
            raise NotHereError(f"{runner} in {case}: {metric} was not recorded")
        values.append(blocks / series.rows(spot) if draft.group.per == "row" else blocks)
    base_times, new_times = values
    row = replace(
        draft.row,
        base_time=median(base_times),
        new_time=median(new_times),
        blocks=int(np.count_nonzero(shared(base_times, new_times))),
        verdict=None,
    )
    whole = metric == "wall" or series.cold(spots[0])
    return replace(
        draft,
        row=row,
        unit="row" if draft.group.per == "row" else "process" if whole else "operation",
        times=(base_times, new_times),
        guard=0.0  # a file is as large in every block
        if metric == "file"
        else max(float(series.guard(metric)[spot.case]) for spot in spots),
    )


def _unit(group: claims.ClaimGroup, drafts: Sequence[_Draft]) -> Unit:
    """What the times of a group's rows are of."""
    units: list[Unit] = [draft.unit for draft in drafts if draft.group is group and draft.unit]
    return units[0] if units else "operation"


def _finished(drafts: Sequence[_Draft], question: Question) -> list[Row]:
    """The rows with their ratios, and with verdicts where a ratio was published."""
    rows = [draft.row for draft in drafts]
    times = {n: draft.times for n, draft in enumerate(drafts) if draft.times is not None}
    if not times:
        return rows
    here = list(times)
    base, new = (np.array(column) for column in zip(*times.values(), strict=True))
    bases, news = (np.array(c) for c in zip(*(drafts[n].sides() for n in here), strict=True))
    widths = np.array([drafts[n].noise(drafts[n].width) for n in here])
    means = log_means(bases, news, widths, question)
    for n, figure, rate in zip(here, _figures(means), rate_tests(base, new), strict=True):
        scale = drafts[n].scale_ns
        if scale is None:
            rated = None if drafts[n].group.metric == "file" else rate
            rows[n] = replace(rows[n], ratio=_ratio(figure), rate=rated)
        else:
            rows[n] = replace(rows[n], difference=figure and _times(figure, scale))
    asked = [(at, n, p) for at, n in enumerate(here) if (p := drafts[n].published())]
    decisions = decide(
        some(means, [at for at, _, _ in asked]),
        [published for _, _, published in asked],
        question.correction,
        np.array([drafts[n].noise(drafts[n].guard) for _, n, _ in asked]),
    )
    for (_, n, published), decision in zip(asked, decisions, strict=True):
        reason = _reason(decision, published, drafts[n].scale_ns)
        rows[n] = replace(rows[n], verdict=decision.word, reason=reason)
    return rows


def _figures(means: TrimmedMeans) -> list[Interval | None]:
    """Log ratios with their intervals."""
    columns = map(optional, (means.mean, *means.interval()))
    return [
        None if value is None else Interval(value, low, high)
        for value, low, high in zip(*columns, strict=True)
    ]


def _ratio(log: Interval | None) -> Speedup | None:
    if log is None:
        return None
    value, low, high = (None if each is None else exp(each) for each in astuple(log))
    return None if value is None else Speedup(value, low, high)


def _times(each: Interval, scale: float) -> Interval:
    low, high = (None if end is None else end * scale for end in (each.low, each.high))
    return Interval(each.value * scale, low, high)


def _reason(decision: Decision, published: Published, scale: float | None) -> str:
    low, high = published.same()
    if scale is None:
        return _REASONS[decision.why].format(low=exp(low), high=exp(high))
    in_ms = scale / NS_PER_MS
    return _OF_DIFFERENCES[decision.why].format(low=low * in_ms, high=high * in_ms)
