"""The rows of all claims of a run: published ratio, own ratio, verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from sqlitmus.results.estimate import Speedup
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


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row and, where both of its cells are here, what their times are of, base and new by block,
    and their noise."""

    claim: int
    group: claims.ClaimGroup
    row: Row
    unit: Unit | None = None
    times: tuple[Array, Array] | None = None
    guard: float = 0.0

    def published(self) -> Published | None:
        """What the row is held against; None where no ratio was published."""
        if self.row.published is None:
            return None
        group = self.group
        return Published(self.row.published, group.tolerance, group.expects == "effect")


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
        blank = Row(
            row.name, "", "", "", row.said, row.published, "not testable here", "", key=row.key
        )
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
        guard=max(float(series.guard(metric)[spot.case]) for spot in spots),
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
    widths = np.array([width(drafts[n].group.metric) for n in here])
    means = log_means(base, new, widths, question)
    for n, ratio, rate in zip(here, _ratios(means), rate_tests(base, new), strict=True):
        rows[n] = replace(rows[n], ratio=ratio, rate=rate)
    asked = [(at, n, p) for at, n in enumerate(here) if (p := drafts[n].published())]
    decisions = decide(
        some(means, [at for at, _, _ in asked]),
        [published for _, _, published in asked],
        question.correction,
        np.array([drafts[n].guard for _, n, _ in asked]),
    )
    for (_, n, published), decision in zip(asked, decisions, strict=True):
        rows[n] = replace(rows[n], verdict=decision.word, reason=_reason(decision, published))
    return rows


def _ratios(means: TrimmedMeans) -> list[Speedup | None]:
    low, high = means.interval()
    columns = (optional(np.exp(column)) for column in (means.mean, low, high))
    return [
        None if value is None else Speedup(value, below, above)
        for value, below, above in zip(*columns, strict=True)
    ]


def _reason(decision: Decision, published: Published) -> str:
    low, high = map(exp, published.same())
    return _REASONS[decision.why].format(low=low, high=high)
