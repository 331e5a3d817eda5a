"""Rows of a claim before they are judged together: what was measured of each."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from sqlitmus.analysis.claims.details import width
from sqlitmus.analysis.claims.series import NotHereError, Series, median, shared
from sqlitmus.catalog import claims
from sqlitmus.results.claims import Row, Unit
from sqlitmus.stats.claim import Published
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.nouns import counted

NS_PER_MS = 1e6
PAGE = 4096  # files are whole pages of it


@dataclass(frozen=True, slots=True)
class Draft:
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

    @property
    def shows(self) -> Hashable:
        """What tells its measurement from others: the cells, the metric, the unit, and whether it
        is a ratio."""
        group = self.group
        return self.row.base, self.row.new, group.metric, group.per, group.compare

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


def drafted(
    series: Series, number: int, group: claims.ClaimGroup, have: int | None
) -> Iterator[Draft]:
    """The rows of a group, once for each runner; `have` are the machine's cores."""
    for row in group.rows:
        published = row.published
        if published is not None and group.compare == "difference":
            published *= NS_PER_MS
        blank = Row(
            *(row.name, "", "", "", row.said, published, ClaimWord.NOT_TESTABLE, ""),
            key=row.key,
            saves=group.compare == "difference",
        )
        why = row.untestable
        if not why and have is not None and group.cores > have:
            why = f"needs {counted(group.cores, 'core')}; this machine has {have}"
        if why:
            yield Draft(number, group, replace(blank, reason=why))
            continue
        for base, new in group.pairs(row):
            named = replace(
                blank,
                runner=base[1] if base[1] == new[1] else f"{base[1]}, {new[1]}",
                base="/".join(base),
                new="/".join(new),
            )
            try:
                yield _measured(series, base, new, Draft(number, group, named))
            except NotHereError as error:
                yield Draft(number, group, replace(named, reason=str(error)))


def _measured(series: Series, base: tuple[str, str], new: tuple[str, str], draft: Draft) -> Draft:
    """The draft with both figures; raises NotHereError where there is none."""
    metric, spots = draft.group.metric, (series.spot(*base), series.spot(*new))
    if metric == "wall":
        base_work, new_work = map(series.work, spots)
        if base_work is None or new_work is None:
            raise NotHereError("a process that warms up by time did no fixed number of operations")
        if base_work != new_work:
            raise NotHereError("the two processes were given different numbers of operations")
    elif not series.equal_work(*spots):
        raise NotHereError("the two were given different numbers of operations in an iteration")
    values: list[Array] = []
    for spot, (case, runner) in zip(spots, (base, new), strict=True):
        if metric == "steady" and (ratio := series.warming(spot)):
            raise NotHereError(
                f"{runner} in {case} was still warming up: its second half took "
                f"{100 * (1 - ratio):.1f} % less time than its first"
            )
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
