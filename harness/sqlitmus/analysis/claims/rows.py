"""The rows of all claims of a run: published ratio, own ratio, verdict."""

from collections.abc import Hashable, Sequence
from dataclasses import astuple, replace
from math import exp

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.claims.drafts import Draft, drafted
from sqlitmus.analysis.claims.series import Series, log_means, some
from sqlitmus.analysis.claims.words import Asked, worded
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.notices import cores
from sqlitmus.analysis.question import Question
from sqlitmus.catalog import claims
from sqlitmus.results.claims import Group, Row, Unit
from sqlitmus.results.estimate import Interval, Speedup
from sqlitmus.stats.claim import Rule
from sqlitmus.stats.estimate import TrimmedMeans


def claim_groups(run: RunData, series: Series) -> list[list[Group]]:
    """Per claim its groups. Verdicts are corrected together over all rows with a published
    ratio."""
    drafts = [
        draft
        for number, claim in enumerate(run.plan.claims)
        for group in claim.groups
        for draft in drafted(series, number, group, cores(run.machine))
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


def _unit(group: claims.ClaimGroup, drafts: Sequence[Draft]) -> Unit:
    """What the times of a group's rows are of."""
    units: list[Unit] = [draft.unit for draft in drafts if draft.group is group and draft.unit]
    return units[0] if units else "operation"


def _finished(drafts: Sequence[Draft], question: Question) -> list[Row]:
    """The rows with their ratios, and with words where a ratio was published."""
    rows = [draft.row for draft in drafts]
    here = [n for n, draft in enumerate(drafts) if draft.times is not None]
    if not here:
        return rows
    bases, news = (np.array(c) for c in zip(*(drafts[n].sides() for n in here), strict=True))
    widths = np.array([drafts[n].noise(drafts[n].width) for n in here])
    means = log_means(bases, news, widths, question)
    for n, figure in zip(here, _figures(means), strict=True):
        scale = drafts[n].scale_ns
        if scale is None:
            rows[n] = replace(rows[n], ratio=_ratio(figure))
        else:
            rows[n] = replace(rows[n], difference=figure and _times(figure, scale))
    asked = {
        n: Asked(
            rows[n],
            published,
            drafts[n].noise(drafts[n].guard),
            drafts[n].shows,
            drafts[n].scale_ns,
        )
        for n in here
        if (published := drafts[n].published())
    }
    of_asked = some(means, [at for at, n in enumerate(here) if n in asked])
    rule = Rule(question.margin, question.correction, question.sessions)
    for n, row in zip(asked, worded(list(asked.values()), of_asked, rule), strict=True):
        rows[n] = row
    return _once(drafts, rows)


def _once(drafts: Sequence[Draft], rows: Sequence[Row]) -> list[Row]:
    """Rows of a claim that show the same measurement name the one that counts: a key row, or else
    the first."""
    first: dict[Hashable, int] = {}
    marked = list(rows)
    for n in sorted(range(len(rows)), key=lambda n: not rows[n].key):
        if rows[n].verdict is not None and drafts[n].times is not None:
            counts = first.setdefault((drafts[n].claim, drafts[n].shows), n)
            if counts != n:
                repeats = f"{drafts[counts].group.title}: {rows[counts].name}"
                marked[n] = replace(rows[n], repeats=repeats)
    return marked


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
