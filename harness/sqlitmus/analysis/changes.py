"""What would change a recommendation: where another runner is shown to be ahead."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.ranking import START, Table, contrasts, crossing
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.ranking import Change, Contrast
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.groups import together
from sqlitmus.vocabulary.verdicts import Verdict

_FASTER = [verdict for verdict in Verdict if verdict.side == "faster"]


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons of cases x pairs of runners whose intervals hold all at once."""

    by_case: Mapping[int, Table]
    blocks: int
    level: float

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        numbers: Sequence[int],
        fit: Sequence[str],
        question: Question,
        guard: Array | None,
    ) -> "Family":
        width = len(pairs.indices)
        chosen = [
            k
            for k, (i, j) in enumerate(pairs.indices)
            if pairs.names[i] in fit and pairs.names[j] in fit
        ]
        rows = np.array([case * width + k for case in numbers for k in chosen], dtype=np.int64)
        if not len(rows):
            return cls({}, 0, 1 - question.alpha)
        logs = TrimmedMeans(
            *(getattr(pairs.logs, name)[rows] for name in ("mean", "error", "freedom", "count"))
        )
        guards = 0.0 if guard is None else np.repeat(guard[list(numbers)], len(chosen))
        shares = question.shares
        share = 1.0 if shares is None else np.repeat(shares[list(numbers)], len(chosen))
        family = together(logs, question.margin, guards, question.alpha, share)
        named = [(pairs.names[i], pairs.names[j]) for i, j in (pairs.indices[k] for k in chosen)]
        words = family.verdicts.names().tolist()
        by_case = {
            case: contrasts(named, logs.mean[at], family.low[at], family.high[at], words[at])
            for case, at in zip(numbers, _slices(len(chosen)), strict=False)
        }
        testable = max(int(np.count_nonzero(~np.isnan(family.low))), 1)
        return cls(by_case, int(logs.count.max()), 1 - question.alpha / testable)

    def table(self, case: int) -> Table:
        """The comparisons of a case by (runner, reference)."""
        return self.by_case.get(case, {})


def _slices(length: int) -> Iterator[slice]:
    """The rows of one case after another."""
    return (slice(start, start + length) for start in count(0, length))


def changes_of(
    plan: Plan,
    family: Family,
    queries: Mapping[str, int],
    start: int | None,
    lead: str,
    shares: Mapping[str, float],
    medians: Array,
) -> Iterator[Change]:
    """For each query, and for the start, the fastest of those who are shown to be ahead there."""
    names = plan.names
    calls = np.array([1000 * share for share in shares.values()])
    for number, (query, place) in enumerate(queries.items()):
        ahead = _ahead(family.table(place), lead)
        if ahead:
            first, second = (medians[:, names.index(name)] for name in (lead, ahead.runner))
            yield Change(query, ahead.runner, ahead.ratio, crossing(first, second, calls, number))
    if start is not None and (ahead := _ahead(family.table(start), lead)):
        yield Change(START, ahead.runner, ahead.ratio)


def _ahead(table: Table, lead: str) -> Contrast | None:
    faster = [
        contrast
        for (_, reference), contrast in table.items()
        if reference == lead and contrast.verdict in _FASTER
    ]
    return min(faster, key=lambda contrast: contrast.ratio.value, default=None)
