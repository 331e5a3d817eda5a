"""Cells that the warm-up left unready, by what the pilot saw of them."""

from collections.abc import Iterable
from math import inf

from sqlitmus.analysis.data import RunData
from sqlitmus.catalog.planned import Counts
from sqlitmus.results.notices import Notice, NoticeKind
from sqlitmus.vocabulary.nouns import some


def warmth(run: RunData) -> Iterable[Notice]:
    """Cells that the pilot saw change for longer than the mode let the plan warm them up, and those
    that were as fast as they become but never steady."""
    cells: dict[NoticeKind, dict[str, list[str]]] = {"not warm": {}, "not steady": {}}
    for case, of_runners in run.plan.counts.items():
        for runner, counts in of_runners.items():
            if (kind := _kind(counts)) is not None:
                cells[kind].setdefault(runner, []).append(case)
    for kind, cases_of in cells.items():
        if cases_of:
            named = {runner: some(cases) for runner, cases in cases_of.items()}
            yield Notice(kind, sum(map(len, cases_of.values())), values=named)


def _kind(counts: Counts) -> NoticeKind | None:
    never = counts.steadiness == "no steady state"
    reached = counts.fastest_from_ms if never else counts.steady_from_ms or 0.0
    if reached is None:  # an older plan, which let it warm up for as long as its mode could
        return "not warm"
    # older plans do not tell how long processes that take turns warm up
    unknown = inf if counts.rounds else counts.warmup_ms
    if reached > (unknown if counts.warmed_ms is None else counts.warmed_ms):
        return "not warm"
    return "not steady" if never else None
