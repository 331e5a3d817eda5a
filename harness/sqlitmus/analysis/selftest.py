"""What a run of equal copies of one runner says of the method: how often a report of some of its
blocks tells copies apart, how many intervals hold 1, how often 3 % are found. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Group, Report, SelfTest
from sqlitmus.stats.estimate import Rate, binomial_tail, rate
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import Scheme

LEAST = 5  # reports that a rate is given of
BLOCKS_NEEDED = LEAST * MIN_BLOCKS
SLOWER = 1.03
CHANCE = 0.01  # of equal copies that the test fails, by each of its two rules at most
TITLES: dict[Scheme, str] = {"process": "one after the other", "relay": "in turns"}


def self_test(run: RunData) -> SelfTest | None:
    """The result of a self-test's run; None for one of too few blocks.

    Each stretch of `MIN_BLOCKS` blocks is a run of its own, which shares no block with another
    one and is judged by the whole of `analyse`. Labels stay with their copies all along, so what
    favours a copy (its place, its counts, its age) makes reports false, and more of them than the
    promised 5 % fail the test: so many or more by chance in less than `CHANCE` of self-tests. So
    do two copies that all blocks together tell apart, if their ratio lies beyond the margin.
    """
    plan, parts = run.plan, [*_stretches(run)]
    if len(parts) < LEAST:
        return None
    whole, reports = analyse(run), [*map(analyse, parts)]
    alarms = sum(map(tells_apart, reports))
    first, second = plan.names[:2]
    detections = sum(_is_slower(analyse(_slowed(part)), second, first) for part in parts)
    pairs = [pair for report in reports for pair in _pairs(report)]
    within = sum(map(_holds_one, pairs)) / max(len(pairs), 1)
    least, most = 1 / (1 + plan.margin), 1 + plan.margin
    told_apart = (pair for pair in _pairs(whole) if pair.verdict.different)
    apart = [pair for pair in told_apart if not least <= pair.ratio.value <= most]
    scheme = plan.actual_scheme()
    lines = [
        (
            f"{counted(plan.blocks, 'block')} of {len(plan.names)} equal copies of "
            f"{plan.subjects[0]}, {TITLES[scheme]}: {plan.cases[0].id}."
        ),
        (
            f"False alarms: {alarms} of {len(reports)} reports of {MIN_BLOCKS} blocks find a "
            f"difference between copies, {_percent(rate(alarms / len(reports), len(reports)))}; "
            f"promised are {ALPHA:.0%} at most."
        ),
        f"All blocks together: {_furthest(whole, apart)}",
        f"Coverage: {within:.1%} of the 95 % intervals hold 1.",
        (
            f"Detection: {SLOWER - 1:.0%} added to the times of a copy are found in {detections} "
            f"of {len(reports)} reports, {_percent(rate(detections / len(reports), len(reports)))}."
        ),
    ]
    passed = not apart and binomial_tail(alarms, len(reports), ALPHA) >= CHANCE
    return SelfTest(plan.created.replace("+00:00", "Z"), lines, passed, scheme)


def tells_apart(report: Report) -> bool:
    """Whether a report says anywhere that two of its runners differ: in the ratios of its cases, in
    its summary or in a sentence."""
    rankings = [each.ranking for each in report.headline if isinstance(each, Group)]
    verdicts = [contrast.verdict for ranking in rankings for contrast in ranking.contrasts]
    verdicts += [each.contrast.verdict for each in report.standings if each.contrast]
    verdicts += [pair.verdict for pair in _pairs(report)]
    return any(verdict.different for verdict in verdicts) or any(
        len(ranking.front) + len(ranking.excluded) < len(report.runners) for ranking in rankings
    )


def _stretches(run: RunData) -> Iterator[RunData]:
    """The run in consecutive runs of `MIN_BLOCKS` blocks each, what is left over in none."""
    samples = run.samples
    for begin in range(0, run.plan.blocks - MIN_BLOCKS + 1, MIN_BLOCKS):
        part = slice(begin, begin + MIN_BLOCKS)
        yield replace(
            run,
            plan=run.plan.model_copy(update={"blocks": MIN_BLOCKS, "sessions": 1}),
            samples=replace(
                samples,
                code=samples.code[:, :, part],
                time=samples.time[:, :, part],
                figures={name: values[:, :, part] for name, values in samples.figures.items()},
                position=samples.position[:, :, part],
                reasons={
                    (case, series, block - begin): reason
                    for (case, series, block), reason in samples.reasons.items()
                },
            ),
            blocks=[block for block in run.blocks if begin <= block.block < begin + MIN_BLOCKS],
            details={},
        )


def _slowed(run: RunData) -> RunData:
    """The run with the second copy slower by 3 %."""
    time = run.samples.time.copy()
    time[:, 1] *= SLOWER
    return replace(run, samples=replace(run.samples, time=time))


def _pairs(report: Report) -> list[Contrast]:
    return [pair for case in report.cases for pair in case.comparisons]


def _is_slower(report: Report, runner: str, reference: str) -> bool:
    pairs = (case.comparisons.of(runner, reference) for case in report.cases)
    return any(pair is not None and pair.verdict.side == "slower" for pair in pairs)


def _holds_one(pair: Contrast) -> bool:
    """Whether the interval does not exclude that both are equal; equal values have none."""
    low, high = pair.ratio.low, pair.ratio.high
    return low is None or high is None or low <= 1 <= high


def _furthest(report: Report, apart: Sequence[Contrast]) -> str:
    """How far the two copies are apart that differ most, as a sentence."""
    pairs = apart or _pairs(report)
    if not pairs:
        return "no two copies have a ratio."
    widest = max(pairs, key=lambda pair: pair.ratio.value)
    ratio = widest.ratio
    ends = "" if ratio.low is None else f" [{ratio.low:.3f}, {ratio.high:.3f}]"
    what = "slower than" if apart else "over"
    return f"{widest.runner} {what} {widest.reference}, the furthest pair: {ratio.value:.3f}{ends}."


def _percent(share: Rate) -> str:
    return f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"
