"""The rows of all claims of a run: published ratio, own ratio, and the word with its reason."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from math import ceil, exp, floor, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.cells import intervals, optional, whole
from sqlitmus.analysis.data import Array, RunData
from sqlitmus.analysis.notices import cores
from sqlitmus.analysis.outcomes import CHECKS, Outcomes, usable, warming
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.catalog import claims
from sqlitmus.results.claims import Group, Row, Unit
from sqlitmus.results.ranking import Interval, Speedup
from sqlitmus.stats.claim import Decision, Published, Rule, Why, decide, word_of
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans, medians, student_t_of
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import CellOutcome, ClaimWord

# What claims call figures.
_FIGURES = {"wall": "cold", "loop": "iteration_median", "cpu time": "cpu", "max": "longest"}


class NotHereError(Exception):
    """Cells have no figure; the text says why. `outcome` and `reason` are those of a cell that is
    not ok."""

    def __init__(self, text: str, outcome: CellOutcome = "ok", reason: str = "") -> None:
        super().__init__(text)
        self.outcome, self.reason = outcome, reason


Cell = tuple[str, str]  # id of the case, runner


class Spot(NamedTuple):
    """A cell's place in the arrays."""

    case: int
    series: int


class Series:
    """Figures of a run: arrays of blocks, NaN where there is none."""

    def __init__(self, run: RunData, outcomes: Outcomes) -> None:
        self.run = run
        self._outcomes = outcomes
        self._names = run.plan.names
        self._cases = {case.id: place for place, case in enumerate(run.plan.cases)}
        self._arrays: dict[str, Array] = {}
        self._warming = warming(run)

    def spot(self, case: str, runner: str) -> Spot:
        """Where a cell is; raises NotHereError for one that was not measured to the end."""
        found = self._cases.get(case)
        if found is None or runner not in self._names:
            what = case if found is None else runner
            raise NotHereError(f"{what} is not part of this run")
        series = self._names.index(runner)
        outcome = self._outcomes.outcome[found][series]
        if outcome != "ok":
            reason = self._outcomes.reason[found][series]
            raise NotHereError(f"{runner} in {case}: {outcome}: {reason}", outcome, reason or "")
        return Spot(found, series)

    def pair(self, base: Cell, new: Cell, metric: str) -> tuple[Spot, Spot]:
        """Where two cells are whose figures can be compared; raises NotHereError where one was not
        measured to the end, or the two did different work: a process, or what an iteration writes,
        since a table that is filled twice as far is another table."""
        spots = self.spot(*base), self.spot(*new)
        if metric == "wall":
            base_work, new_work = map(self._work, spots)
            if base_work is None or new_work is None:
                by_time = "a process that warms up by time did no fixed number of operations"
                raise NotHereError(by_time)
            if base_work != new_work:
                raise NotHereError("the two processes were given different numbers of operations")
        elif not self._equal_work(*spots):
            raise NotHereError("the two were given different numbers of operations in an iteration")
        return spots

    def array(self, metric: str) -> Array:
        """Cases × series × blocks, canary last: of a figure, or of what claims call one. What is
        of a unit of work elsewhere is of an operation here (of a cold case, of a process); `file`
        is in bytes."""
        if metric not in self._arrays:
            self._arrays[metric] = usable(self._recorded(metric), self._outcomes)
        return self._arrays[metric]

    def blocks(self, metric: str, spot: Spot) -> Array:
        """A cell's values by block."""
        return self.array(metric)[spot.case, spot.series]

    def typical(self, metric: str, spot: Spot) -> Interval | None:
        """The median over the blocks with its interval; None where nothing was recorded."""
        return median(self.blocks(metric, spot))

    def mean(self, metric: str, spot: Spot) -> float | None:
        """The mean over the blocks, which loses no rare count; None where nothing was recorded."""
        blocks = self.blocks(metric, spot)
        return None if np.isnan(blocks).all() else float(np.nanmean(blocks))

    def rows(self, spot: Spot) -> float:
        """Rows that an operation returned when it was verified; raises NotHereError for none."""
        case = self.run.plan.cases[spot.case]
        check = self.run.checks.get((case.id, self._names[spot.series]))
        if check is None or not check.rows or not case.operations:
            raise NotHereError(f"{case.id} returns no rows, so there is no time per row")
        return check.rows / (check.operations or case.operations)

    def warming(self, spot: Spot) -> float | None:
        """Its second half over its first where it was still warming up; see `warming`."""
        return self._warming.get(spot)

    def cold(self, spot: Spot) -> bool:
        """Whether the cell's time is that of a process."""
        return self.run.plan.cases[spot.case].metric == "cold"

    def _work(self, spot: Spot) -> int | None:
        """Operations of a whole process; None where it warms up by time, however many it does."""
        case = self.run.plan.cases[spot.case]
        return whole(case, self.run.plan.counts.get(case.id, {}).get(self._names[spot.series]))

    def _equal_work(self, base: Spot, new: Spot) -> bool:
        """Whether both only read, or a process of both times as many operations, altogether or on
        each thread, or as many units of work."""
        cases = [self.run.plan.cases[spot.case] for spot in (base, new)]
        if not any(case.writes for case in cases):
            return True
        asked = [self._asked(spot) for spot in (base, new)]
        return any(one == other for one, other in zip(*asked, strict=True))

    def _asked(self, spot: Spot) -> tuple[float, float, float]:
        """Operations that a process times, those of each thread, and their units of work."""
        case = self.run.plan.cases[spot.case]
        counts = self.run.plan.counts.get(case.id, {}).get(self._names[spot.series])
        operations = case.operations * case.iterations
        if counts:
            operations = counts.operations * (counts.iterations - counts.rounds * counts.lead_in)
        return operations, operations / case.threads, operations * case.per_operation

    def _recorded(self, metric: str) -> Array:
        samples = self.run.samples
        if metric == "file":
            sizes = np.array([c.database_bytes or np.nan for c in self.run.plan.cases])
            return np.where(np.isnan(samples.time), np.nan, sizes[:, None, None])
        figure = None if metric == "steady" else figures.named(_FIGURES.get(metric, metric))
        each = samples.figures[figure.name] if figure else samples.time
        if figure and not figure.per_unit:
            return each
        units = [c.per_operation if c.metric == "steady" else 1 for c in self.run.plan.cases]
        return each * np.array(units)[:, None, None]


def width(metric: str) -> float:
    """The width of a histogram's bucket, as a log ratio, if the metric is read off one."""
    name = _FIGURES.get(metric, metric)
    return 1 / 128 if name in {latency.name for latency in figures.LATENCIES} else 0.0


def shared(base: Array, new: Array) -> NDArray[np.bool_]:
    """Which blocks have a ratio: both are above 0, which they are not on a coarse clock."""
    return (base > 0) & (new > 0)


def log_means(base: Array, new: Array, widths: Array, question: Question) -> TrimmedMeans:
    """Means of ln base / new (rows × blocks), of several sessions combined as of any pair of
    runners; a row with a single block has none.

    `widths` are those of the buckets that a row's values were read off: its interval is at least
    that wide to both sides, since the two values of a ratio lie anywhere in theirs.
    """
    both = np.stack([base, new], axis=1)
    means = compare_with(both, 1, question).logs.rows(slice(None, None, 2))
    least = np.where(widths > 0, widths / student_t_of(means.freedom, LEVEL), np.nan)
    return TrimmedMeans(means.mean, np.fmax(means.error, least), means.freedom, means.count)


def median(blocks: Array) -> Interval | None:
    """The median of a cell's blocks with its interval; None without any."""
    return intervals(medians(blocks[None]))[0]


# The words of all rows together, and why each has its word.


REASONS: dict[Why, str] = {
    "same size": "",
    "no effect, as published": "no effect, as published",
    "size open": "an effect, but not precise enough to tell its size",
    "smaller": "at most {share} the published effect",
    "larger": "at least {share} the published effect",
    "an effect": "an effect where none was published",
    "no effect": "within the margin of {none}",
    "other side": "the difference is the other way round here",
    "open": "rules out neither {none} nor the published size",
    "neither": "rules out neither an effect nor its absence",
    "few blocks": f"fewer than {MIN_BLOCKS} blocks in which both have a value",
    "no interval": "the same {kind} in most blocks, so no interval can be had",
}
FACTOR = 2  # a share from here on is told as a factor
MS_NS = 1e6
MANY = 1000  # blocks that nobody measures; times that need no digit behind the point


@dataclass(frozen=True, slots=True)
class Asked:
    """A row that a figure was published for: `shows` tells its measurement from others. Of a row of
    differences a log ratio stands for `scale_ns`."""

    row: Row
    published: Published
    shows: Hashable
    scale_ns: float | None = None

    def figures(self, low: float, high: float) -> tuple[float, float]:
        """What two log ratios stand for: ratios, or differences in ns."""
        if self.scale_ns is None:
            return exp(low), exp(high)
        return low * self.scale_ns, high * self.scale_ns


def worded(asked: Sequence[Asked], means: TrimmedMeans, rule: Rule) -> list[Row]:
    """The rows, of which `means` has the log ratios, with their words. All of them are one family,
    in which a measurement counts once."""
    numbers = {of: number for number, of in enumerate(dict.fromkeys(one.shows for one in asked))}
    decisions = decide(
        means,
        [one.published for one in asked],
        rule,
        [numbers[one.shows] for one in asked],
    )
    lows, highs = (column.tolist() for column in means.interval())
    return [
        replace(
            one.row,
            verdict=decision.word,
            reason=_reason(one, decision, (low, high), rule),
            same=one.figures(*one.published.same()),
            judged=None if np.isnan(decision.low) else one.figures(decision.low, decision.high),
            needed=decision.needed or None,
        )
        for one, decision, low, high in zip(asked, decisions, lows, highs, strict=True)
    ]


def _reason(of: Asked, decision: Decision, own: tuple[float, float], rule: Rule) -> str:
    """Why this word: by how much, what more blocks would do, what the interval alone would say."""
    none, kind = (1, "ratio") if of.scale_ns is None else (0, "difference")
    parts = [REASONS[decision.why].format(share=_share(of, decision), none=none, kind=kind)]
    if decision.needed > MANY:
        parts.append(f"more than {MANY} blocks would settle it")
    elif decision.needed:
        parts.append(f"about {counted(_rounded(decision.needed), 'block')} would settle it")
    if not np.isnan(decision.low):
        alone = word_of(of.published, rule.margin, own, own)[0]
        if alone is not decision.word:
            ends = of.figures(decision.low, decision.high)
            low, high = ends if of.scale_ns is None else (end / MS_NS for end in ends)
            parts.append(
                f"{alone} by its own interval, which the correction draws out to "
                f"[{low:.3g}, {high:.3g}]{'' if of.scale_ns is None else ' ms'}"
            )
    return "; ".join(filter(None, parts))


def _share(of: Asked, decision: Decision) -> str:
    """The end of the interval that bounds the effect, as a share of the published one."""
    published = of.published
    if decision.why not in ("smaller", "larger"):
        return ""
    smaller = decision.why == "smaller"
    end = decision.high if smaller == (published.ratio > 1) else decision.low
    if of.scale_ns is None:
        share = (exp(end) - 1) / (published.ratio - 1)
    else:
        share = end / log(published.ratio)
    rounded = ceil if smaller else floor
    if share < FACTOR:
        return f"{rounded(share * 100)} % of"
    if share < MANY:
        return f"{rounded(share * 10) / 10:g} times"
    return f"{rounded(share):,} times"


def _rounded(blocks: int) -> int:
    """Two digits, upwards: a hint has no more."""
    step = 10 ** max(len(str(blocks)) - 2, 0)
    return -(-blocks // step) * step


# Rows of a claim before they are judged together: what was measured of each.


PAGE = 4096  # files are whole pages of it


@dataclass(frozen=True, slots=True)
class Draft:
    """A row and, where both of its cells are here, what their times are of, base and new by
    block."""

    claim: int
    group: claims.ClaimGroup
    row: Row
    unit: Unit | None = None
    times: tuple[Array, Array] | None = None

    @property
    def width(self) -> float:
        """How finely the row's figure is told apart, as a log ratio."""
        if self.times is None:
            return 0.0
        of_times = width(self.group.metric)
        if self.group.metric == "file":
            of_times = PAGE / float(min(map(np.nanmin, self.times)))
        if self.scale_ns is None:
            return of_times
        return float(np.expm1(of_times) * max(map(np.nanmedian, self.times)) / self.scale_ns)

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


def drafted(
    series: Series, number: int, group: claims.ClaimGroup, have: int | None
) -> Iterator[Draft]:
    """The rows of a group, once for each runner; `have` are the machine's cores."""
    for row in group.rows:
        published = row.published
        if published is not None and group.compare == "difference":
            published *= MS_NS
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


def _measured(series: Series, base: Cell, new: Cell, draft: Draft) -> Draft:
    """The draft with both figures; raises NotHereError where there is none."""
    group = draft.group
    spots = series.pair(base, new, group.metric)
    values: list[Array] = []
    for spot, (case, runner) in zip(spots, (base, new), strict=True):
        if group.metric == "steady" and (ratio := series.warming(spot)):
            by = CHECKS["still warming up"].words(ratio)
            raise NotHereError(f"{runner} in {case} was still warming up: {by}")
        blocks = series.blocks(group.metric, spot)
        if np.isnan(blocks).all():
            raise NotHereError(f"{runner} in {case}: {group.metric} was not recorded")
        values.append(blocks / series.rows(spot) if group.per == "row" else blocks)
    base_times, new_times = values
    row = replace(
        draft.row,
        base_time=median(base_times),
        new_time=median(new_times),
        blocks=int(np.count_nonzero(shared(base_times, new_times))),
        verdict=None,
    )
    whole = group.metric == "wall" or series.cold(spots[0])
    unit: Unit = "row" if group.per == "row" else "process" if whole else "operation"
    return replace(draft, row=row, unit=unit, times=(base_times, new_times))


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
    widths = np.array([drafts[n].width for n in here])
    means = log_means(bases, news, widths, question)
    for n, figure in zip(here, _figures(means), strict=True):
        scale = drafts[n].scale_ns
        if scale is None:
            rows[n] = replace(rows[n], ratio=_ratio(figure))
        else:
            rows[n] = replace(rows[n], difference=figure and _times(figure, scale))
    asked = {
        n: Asked(rows[n], published, drafts[n].shows, drafts[n].scale_ns)
        for n in here
        if (published := drafts[n].published())
    }
    places = [at for at, n in enumerate(here) if n in asked]
    of_asked = means.rows(np.array(places, dtype=np.int64))
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
