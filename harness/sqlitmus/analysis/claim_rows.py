"""The rows of all claims of a run: published ratio, own ratio, and the word with its reason."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, exp, floor, inf, log, log1p
from typing import NamedTuple

import numpy as np

from sqlitmus.analysis import cells
from sqlitmus.analysis.data import Array, RunData
from sqlitmus.analysis.pairs import Question, estimates, log_times
from sqlitmus.catalog import published
from sqlitmus.catalog.cases import Counts, PlannedCase
from sqlitmus.results.claims import AGREE, Band, Group, Row, Unit
from sqlitmus.results.ranking import Interval
from sqlitmus.stats.estimate import LEVEL, TrimmedMeans, medians, optional, student_t_of
from sqlitmus.stats.expectation import Expectation, Finding, Position, hold
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import POSITIONS, Apart, CellOutcome, ClaimWord

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
    """Figures of a run: arrays of blocks, NaN where there is none.

    `apart` says of cells that they were still warming up, or did other work.
    """

    def __init__(self, run: RunData, outcomes: cells.Outcomes) -> None:
        self.run = run
        self._outcomes = outcomes
        self._names = run.plan.names
        self._cases = {case.id: place for place, case in enumerate(run.plan.cases)}
        self._arrays: dict[str, Array] = {}
        by: tuple[Apart, ...] = ("still warming up", "did other work")
        excluded = cells.Exclusions({name: cells.CHECKS[name].find(run) for name in by})
        self.apart = {
            place: f"{'was ' * reason.startswith('still')}{reason}"
            for place, reason in excluded.reasons().items()
        }

    def spot(self, case: str, runner: str) -> Spot:
        """Where a cell is; raises NotHereError for one that was not measured to the end."""
        place = self._cases.get(case)
        if place is None or runner not in self._names:
            what = case if place is None else runner
            raise NotHereError(f"{what} is not part of this run")
        series = self._names.index(runner)
        outcome = self._outcomes.outcome[place][series]
        if outcome != "ok":
            reason = self._outcomes.reason[place][series]
            raise NotHereError(f"{runner} in {case}: {outcome}: {reason}", outcome, reason or "")
        return Spot(place, series)

    def pair(self, base: Cell, new: Cell, metric: str) -> tuple[Spot, Spot]:
        """Where two cells are whose figures can be compared; raises NotHereError where one was not
        measured to the end, or the two did different work: a process, or what an iteration writes,
        since a table that is filled twice as far is another table. Of an iteration that is equal
        if its operations, those of each thread, or their units of work are."""
        spots = self.spot(*base), self.spot(*new)
        planned = [*map(self._planned, spots)]
        if metric == "wall":
            works = {cells.whole(*each) for each in planned}
            if None in works:
                by_time = "a process that warms up by time did no fixed number of operations"
                raise NotHereError(by_time)
            if len(works) > 1:
                raise NotHereError("the two processes were given different numbers of operations")
        elif any(case.writes for case, _ in planned):
            amounts = zip(*(_amounts(*each) for each in planned), strict=True)
            if not any(base_amount == new_amount for base_amount, new_amount in amounts):
                raise NotHereError(
                    "the two were given different numbers of operations in an iteration"
                )
        return spots

    def blocks(self, metric: str, spot: Spot) -> Array:
        """A cell's values by block: of a figure, or of what claims call one. What is of a unit of
        work elsewhere is of an operation here (of a cold case, of a process); `file` is in
        bytes."""
        if metric not in self._arrays:
            self._arrays[metric] = cells.usable(self._recorded(metric), self._outcomes)
        return self._arrays[metric][spot.case, spot.series]

    def typical(self, metric: str, spot: Spot) -> Interval | None:
        """The median over the blocks with its interval; None where nothing was recorded."""
        return median(self.blocks(metric, spot))

    def mean(self, metric: str, spot: Spot) -> float | None:
        """The mean over the blocks, which loses no rare count; None where nothing was recorded."""
        blocks = self.blocks(metric, spot)
        return None if np.isnan(blocks).all() else float(np.nanmean(blocks))

    def rows(self, spot: Spot) -> float:
        """Rows that an operation returned when it was verified; raises NotHereError for none."""
        case = self.case(spot)
        check = self.run.checks.get((case.id, self._names[spot.series]))
        if check is None or not check.rows or not case.operations:
            raise NotHereError(f"{case.id} returns no rows, so there is no time per row")
        return check.rows / (check.operations or case.operations)

    def case(self, spot: Spot) -> PlannedCase:
        """The cell's case."""
        return self.run.plan.cases[spot.case]

    def _planned(self, spot: Spot) -> tuple[PlannedCase, Counts | None]:
        case = self.case(spot)
        return case, self.run.plan.counts.get(case.id, {}).get(self._names[spot.series])

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


def _amounts(case: PlannedCase, counts: Counts | None) -> tuple[float, float, float]:
    """Operations that a process times, those of each thread, and their units of work."""
    operations = case.operations * case.iterations
    if counts:
        operations = counts.operations * (counts.iterations - counts.rounds * counts.lead_in)
    return operations, operations / case.threads, operations * case.per_operation


def median(blocks: Array) -> Interval | None:
    """The median of a cell's blocks with its interval; None without any."""
    return cells.intervals(medians(blocks[None]))[0]


PAGE = 4096  # files are whole pages of it
BUCKET = 1 / 128  # the width of a histogram's, as a log ratio
MS_NS = 1e6


@dataclass(frozen=True, slots=True)
class Draft:
    """A row and, where both of its cells are here, what their times are of, base and new by
    block; and those of the authors' own `programs` for base and new, where they ran. Of a row that
    no runner can test, which is `untestable` for a reason, theirs are what is judged."""

    claim: int
    group: published.ClaimGroup
    row: Row
    unit: Unit | None = None
    programs: tuple[str, str] | None = None
    times: tuple[Array, Array] | None = None
    theirs: tuple[Array, Array] | None = None
    untestable: str = ""

    @property
    def width(self) -> float:
        """How finely the row's figure is told apart, as a log ratio: of latencies that were read
        off a histogram, by its buckets."""
        assert self.times is not None
        metric, of_times = self.group.metric, 0.0
        if metric == "file":
            of_times = PAGE / float(min(map(np.nanmin, self.times)))
        elif metric != "steady" and figures.named(_FIGURES.get(metric, metric)).latency:
            of_times = BUCKET
        if self.scale_ns is None:
            return of_times
        return float(np.expm1(of_times) * max(map(np.nanmedian, self.times)) / self.scale_ns)

    @property
    def shows(self) -> Hashable:
        """What tells its measurement from others: the cells, the metric, the unit, and whether it
        is a ratio."""
        group = self.group
        return self.row.base, self.row.new, group.metric, group.per, group.compare

    @property
    def scale_ns(self) -> float | None:
        """In units of this, differences are judged as log ratios are; None in a group of ratios.

        So small are they in it that those within the tolerance of the published one, as a factor,
        count as the same.
        """
        if self.group.compare == "ratio" or self.times is None:
            return None
        return 2 * max(self.row.published or 0.0, *(float(np.nanmax(t)) for t in self.times))

    def logs(self) -> Array:
        """By block, the row's figure as a log ratio; NaN where a coarse clock shows no time."""
        assert self.times is not None
        base, new = self.times
        if self.scale_ns is None:
            return log_times(base) - log_times(new)
        return (base - new) / self.scale_ns

    def figure(self, of: float) -> float:
        """What a log ratio stands for: a ratio, or a difference in ns."""
        return exp(of) if self.scale_ns is None else of * self.scale_ns

    def with_figure(self, *logs: float | None) -> Row:
        """The row with its figure, a log ratio and the ends of its interval, and its blocks."""
        assert self.times is not None
        both = np.greater(self.times, 0).all(axis=0)
        row = replace(self.row, blocks=int(np.count_nonzero(both)))
        value, low, high = (None if of is None else self.figure(of) for of in logs)
        if value is None:
            return row
        name = "difference" if row.saves else "ratio"
        return replace(row, **{name: Interval(value, low, high)})

    def size(self, figure: float) -> float:
        """A ratio, or a difference in ns, as a log ratio; see `figure`."""
        return log(figure) if self.scale_ns is None else figure / self.scale_ns

    def expectation(self, margin: float) -> Expectation | None:
        """What the row is held against; None where no figure was published. `margin` is a share of
        the time, or of a difference, that counts as none."""
        if self.row.ends is None:
            return None
        low, high = map(self.size, self.row.ends)
        if self.group.expects == "no effect":
            reach = max(log(self.group.tolerance), abs(low), abs(high))
            return Expectation(-reach, reach)
        wide = log1p(margin) if self.scale_ns is None else margin * max(abs(low), abs(high))
        if self.row.kind in BOUNDS:
            faster, least = low > 0, self.row.kind == "at least"
            low, high = (low, inf) if faster == least else (-inf, high)
        return Expectation.of_published(low, high, wide)

    def allowance(self) -> Expectation | None:
        """What another machine may make of the published effect; None where there is none."""
        if self.row.ends is None or self.group.expects == "no effect" or self.row.kind == "at most":
            return None
        tolerance, each = self.group.tolerance, [*map(self.size, self.row.ends)]
        if min(each) <= 0 <= max(each):
            return None
        low, high = (Expectation.of_effect(size, tolerance) for size in each)
        if self.row.kind == "at least":
            return Expectation(low.low, inf) if low.low > 0 else Expectation(-inf, high.high)
        return Expectation(low.low, high.high)


def drafted(
    series: Series, number: int, group: published.ClaimGroup, have: int | None
) -> Iterator[Draft]:
    """The rows of a group, once for each runner; `have` are the machine's cores."""
    for row in group.rows:
        unit = MS_NS if group.compare == "difference" else 1
        published = None if row.published is None else row.published * unit
        ends = group.uncertainty(row)
        blank = Row(
            *(row.name, "", "", "", row.said, published, ClaimWord.NOT_TESTABLE, ""),
            key=row.key,
            saves=group.compare == "difference",
            kind=row.kind,
            ends=ends and (ends[0] * unit, ends[1] * unit),
        )
        draft = Draft(number, group, blank, programs=row.theirs, untestable=row.untestable)
        why = row.untestable
        if not why and have is not None and group.cores > have:
            why = f"needs {counted(group.cores, 'core')}; this machine has {have}"
        if why:
            yield replace(draft, row=replace(blank, reason=why))
            continue
        for base, new in group.pairs(row):
            named = replace(
                blank,
                runner=base[1] if base[1] == new[1] else f"{base[1]}, {new[1]}",
                base="/".join(base),
                new="/".join(new),
            )
            try:
                yield _measured(series, base, new, replace(draft, row=named))
            except NotHereError as error:
                yield replace(draft, row=replace(named, reason=str(error)))


def _measured(series: Series, base: Cell, new: Cell, draft: Draft) -> Draft:
    """The draft with both figures; raises NotHereError where there is none."""
    group = draft.group
    spots = series.pair(base, new, group.metric)
    values: list[Array] = []
    for spot, (case, runner) in zip(spots, (base, new), strict=True):
        if group.metric == "steady" and (reason := series.apart.get(spot)):
            raise NotHereError(f"{runner} in {case} {reason}")
        blocks = series.blocks(group.metric, spot)
        if np.isnan(blocks).all():
            raise NotHereError(f"{runner} in {case}: {group.metric} was not recorded")
        values.append(blocks / series.rows(spot) if group.per == "row" else blocks)
    base_times, new_times = values
    row = replace(draft.row, base_time=median(base_times), new_time=median(new_times), verdict=None)
    whole = group.metric == "wall" or series.case(spots[0]).metric == "cold"
    unit: Unit = "row" if group.per == "row" else "process" if whole else "operation"
    return replace(draft, row=row, unit=unit, times=(base_times, new_times))


PROCESS = {"wall": "wall_ns", "cpu time": "cpu_ns"}


def _beside(run: RunData, draft: Draft) -> Draft:
    """The draft with what the authors' programs gave for base and new, or why nothing."""
    claim = run.plan.claims[draft.claim]
    if draft.programs is None:
        return draft
    # as many blocks as our own cells have, of which the last may be under way
    authors = {block.block: block.authors for block in run.blocks}
    blocks = range(run.samples.time.shape[-1])
    sides = [
        [authors.get(block, {}).get(f"{claim.name}/{each}") for block in blocks]
        for each in draft.programs
    ]
    problems = [f"failed: {each.problem}" for each in chain(*sides) if each and each.problem]
    if claim.name not in run.plan.sources:
        problems = ["not run: give --source"]
    elif not problems and not any(map(any, sides)):
        problems = ["not run: a program that it needs is missing"]
    if problems:
        return replace(draft, row=replace(draft.row, no_theirs=problems[0]))
    field = PROCESS.get(draft.group.metric, "printed_ns")
    base, new = (np.array([e and getattr(e, field) for e in side], np.float64) for side in sides)
    if not draft.untestable:
        return replace(draft, theirs=(base, new))
    row = replace(
        draft.row,
        base=f"authors/{draft.programs[0]}",
        new=f"authors/{draft.programs[1]}",
        verdict=None,
        reason="",
    )
    return replace(draft, row=row, times=(base, new), theirs=(base, new))


def claim_groups(run: RunData, series: Series) -> list[list[Group]]:
    """Per claim its groups. Verdicts are corrected together over all rows with a published
    ratio."""
    drafts = [
        _beside(run, draft)
        for number, claim in enumerate(run.plan.claims)
        for group in claim.groups
        for draft in drafted(series, number, group, run.cores)
    ]
    question = Question.of(run.plan)
    rows = _with_theirs(drafts, _finished(drafts, question), question)
    finished = list(zip(drafts, rows, strict=True))

    def of(group: published.ClaimGroup) -> Group:
        units: list[Unit] = [d.unit for d in drafts if d.group is group and d.unit]
        rows = [row for draft, row in finished if draft.group is group]
        unit = units[0] if units else "operation"
        return Group(group.title, group.metric, unit, rows, group.compare)

    return [[of(group) for group in claim.groups] for claim in run.plan.claims]


BOUNDS = ("at least", "at most")
FACTOR = 2  # a share from here on is told as a factor
MANY = 1000  # blocks that nobody measures; times that need no digit behind the point


def _finished(drafts: Sequence[Draft], question: Question) -> list[Row]:
    """The rows with their figures, and with words where a figure was published: those are one
    family, in which a measurement counts once."""
    rows = [draft.row for draft in drafts]
    here = [n for n, draft in enumerate(drafts) if draft.times is not None]
    if not here:
        return rows
    means = _means([drafts[n] for n in here], question)
    logs = zip(*map(optional, (means.mean, *means.interval())), strict=True)
    for n, figure in zip(here, logs, strict=True):
        rows[n] = drafts[n].with_figure(*figure)
    expected = {
        at: of for at, n in enumerate(here) if (of := drafts[n].expectation(question.margin))
    }
    measured = [drafts[here[at]].shows for at in expected]
    findings, plain = (
        hold(
            means.rows(np.array([*expected], dtype=np.int64)),
            [*expected.values()],
            question.margin,
            correction,
            question.sessions,
            [measured.index(shows) for shows in measured],
        )
        for correction in (question.correction, "none")
    )
    for at, finding, alone in zip(expected, findings, plain, strict=True):
        n, of = here[at], drafts[here[at]]
        ends = (of.figure(finding.low), of.figure(finding.high))
        rows[n] = replace(
            rows[n],
            verdict=ClaimWord(POSITIONS[finding.position]["word"]),
            reason=_reason(of, finding, alone.position),
            same=_figures(of, expected[at]),
            allowed=_figures(of, of.allowance()),
            against=_against(rows[n]),
            judged=None if np.isnan(finding.low) else ends,
            needed=finding.needed or None,
        )
    return _once(drafts, rows)


def _with_theirs(drafts: Sequence[Draft], rows: Sequence[Row], question: Question) -> list[Row]:
    """The rows with the ratios of the authors' own programs, block by block as ours."""
    shown = list(rows)
    for n, draft in enumerate(drafts):
        if draft.theirs is not None:
            logs = log_times(draft.theirs[0]) - log_times(draft.theirs[1])
            means, _ = estimates(logs[None], question.sessions)
            ends = (optional(each)[0] for each in (means.mean, *means.interval()))
            value, low, high = (None if end is None else exp(end) for end in ends)
            if value is not None:
                shown[n] = _held(replace(shown[n], theirs=Interval(value, low, high)))
    return shown


def _held(row: Row) -> Row:
    """The row without a word on the publication, if its authors' programs disagree with it."""
    if not row.disagrees or row.verdict is None:
        return row
    reason = f"more than {AGREE - 1:.0%} between ours and the authors' programs; else {row.verdict}"
    return replace(row, verdict=ClaimWord.OTHER_WORK, reason=reason.replace("%", " %"))


def _figures(of: Draft, expected: Expectation | None) -> Band | None:
    if expected is None:
        return None
    most = of.figure(expected.high)
    return of.figure(expected.low), None if most == inf else most


def _against(row: Row) -> Interval | None:
    """The ratio here over the published one, which lies anywhere between its ends; None where they
    are no figure of an effect's size."""
    if row.saves or row.kind != "ratio" or not (row.ratio and row.published and row.ends):
        return None
    low, high = row.ratio.low, row.ratio.high
    return Interval(
        row.ratio.value / row.published,
        None if low is None else low / row.ends[1],
        None if high is None else high / row.ends[0],
    )


def _means(drafts: Sequence[Draft], question: Question) -> TrimmedMeans:
    """Means of their log ratios, of several sessions combined as of any pair of runners; a row with
    a single block has none.

    The interval of values that were read off buckets is at least a bucket wide to both sides, since
    the two values of a ratio lie anywhere in theirs.
    """
    means, _ = estimates(np.array([draft.logs() for draft in drafts]), question.sessions)
    widths = np.array([draft.width for draft in drafts])
    least = np.where(widths > 0, widths / student_t_of(means.freedom, LEVEL), np.nan)
    return replace(means, error=np.fmax(means.error, least))


def _reason(of: Draft, finding: Finding, alone: Position) -> str:
    """Why this word: by how much, what more blocks would do, what the plain 95 % interval says
    `alone`."""
    words, other = POSITIONS[finding.position], POSITIONS[alone]["word"]
    what = "bound" if of.row.kind in BOUNDS else "effect"
    text = words.get("none" if of.group.expects == "no effect" else what, words["effect"])
    none, kind, ns, unit = (0, "difference", MS_NS, " ms") if of.row.saves else (1, "ratio", 1, "")
    share = _share(of, finding) if "{share}" in text else ""
    parts = [text.format(share=share, none=none, kind=kind, least=MIN_BLOCKS)]
    if of.untestable:
        parts.append(f"by the authors' programs, since {of.untestable}")
    if finding.needed > MANY:
        parts.append(f"more than {MANY} blocks would settle it")
    elif finding.needed:
        parts.append(f"about {counted(_rounded(finding.needed), 'block')} would settle it")
    if other != words["word"]:
        low, high = (of.figure(end) / ns for end in (finding.low, finding.high))
        parts.append(
            f"{other} by its own interval, which the correction draws out to "
            f"[{low:.3g}, {high:.3g}]{unit}"
        )
    return "; ".join(filter(None, parts))


def _share(of: Draft, finding: Finding) -> str:
    """The end of the interval that bounds the effect, as a share of the published one."""
    none, published, ends = 0 if of.row.saves else 1, of.row.published, of.row.ends
    assert published is not None
    assert ends is not None
    short = finding.position == "short"
    if of.row.kind == "range":
        published = ends[0] if short == (published > none) else ends[1]
    end = finding.high if short == (published > none) else finding.low
    share, rounded = (of.figure(end) - none) / (published - none), ceil if short else floor
    if share < FACTOR:
        return f"{rounded(share * 100)} % of"
    if share < MANY:
        return f"{rounded(share * 10) / 10:g} times"
    return f"{rounded(share):,} times"


def _rounded(blocks: int) -> int:
    """Two digits, upwards: a hint has no more."""
    step = 10 ** max(len(str(blocks)) - 2, 0)
    return -(-blocks // step) * step


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
