"""Headline, notices and noise as sentences; their numbers are written by `format`."""

from collections.abc import Mapping

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import recommendation, upshots, weighed
from sqlitmus.render.document.ranking import left_out, ratio, say
from sqlitmus.results.advice import Advice
from sqlitmus.results.headline import (
    Agreed,
    Broken,
    ClaimOutcomes,
    Contradicted,
    FewBlocks,
    Group,
    Holding,
    Missing,
    NoOrder,
    Recorded,
    Statement,
    Unpaired,
)
from sqlitmus.results.notices import CanarySummary, Noise
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.results.report import Report
from sqlitmus.results.weighed import Weighed
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.nouns import counted, listed, some
from sqlitmus.vocabulary.terms import Grade, HoldsWord
from sqlitmus.vocabulary.verdicts import Side

PROBLEMS = {"wrong": "gave wrong answers", "failed": "failed"}
SIDES: tuple[Side, ...] = ("faster", "slower", "equivalent")
# Of one comparison and of several.
HOLDS: dict[HoldsWord, tuple[str, str]] = {
    "holds on all": ("holds", "hold on every machine that has an answer"),
    "holds on most": ("holds", "hold on more than half of the machines"),
    "depends on the machine": ("depends", "depend on the machine"),
    "on one machine only": ("is", "are decided by one machine only"),
    "not resolved": ("is", "are not resolved"),
    "no answer": ("has", "have no answer"),
}
MEANING: dict[Grade, str] = {
    "A": "differences of about 1 % can be believed",
    "B": "differences of a few percent can be believed",
    "C": "small differences are not found",
}


def ended(text: str) -> str:
    """With one full stop; names keep their case."""
    return text.rstrip(".") + "."


def statement(about: Statement) -> str:  # noqa: C901, PLR0911, PLR0912 — a sentence per kind
    """One sentence of a headline."""
    match about:
        case Broken():
            return (
                f"{about.runner} {PROBLEMS[about.outcome]} in {len(about.cases)} of "
                f"{counted(about.of, 'case')} ({some(about.cases)}): no times are given for these."
            )
        case Missing():
            return ended(f"{about.runner} is missing: {about.reason}")
        case FewBlocks():
            return (
                f"With {counted(about.blocks, 'complete block')} this run says who works, not who "
                f"is faster: verdicts need at least {about.least} blocks."
            )
        case Group():
            return group(about)
        case NoOrder():
            only = "Only controls were measured; they choose no runtime."
            return only if about.measured else "Nothing was measured."
        case ClaimOutcomes():
            count = counted(sum(about.counts.values()), "published claim")
            return ended(f"{count}, measured here: {outcome(about.counts)}")
        case Unpaired():
            return unpaired(about)
        case Holding():
            return holding(about)
        case Agreed():
            return agreed(about)
        case Contradicted():
            pairs = [f"{runner} in {case}" for runner, case in about.pairs]
            return f"It depends on the machine: {some(pairs)}."
        case Recorded():
            return about.text
        case Recommendation():
            return " ".join(recommendation.sentences(about))
        case Weighed():
            return weighed.text(about)
        case Advice():
            return " ".join(upshots.sentences(about))


def group(ordered: Group) -> str:
    """The order of a group; each of its runners is named."""
    order = ordered.ranking
    out = [left_out(excluded, some(excluded.cases)) for excluded in order.excluded]
    cases = counted(ordered.cases, "case")
    return f"{capital(ordered.group)} ({cases}): {' '.join([*say(order), *out])}"


def definition(report: Report) -> str:
    """What a time is, and what others took meanwhile; nothing in a report without such times."""
    if report.level != "total" or all(case.metric != "steady" for case in report.cases):
        return ""
    text = (
        "The time per operation is all time of steady work over its operations: the collections, "
        "checkpoints, page-cache misses and page splits that this work causes are part of it. Only "
        "what other programs took from a thread that takes turns is left out"
    )
    taken = report.taken
    if taken is None:
        return f"{text}."
    rounds = f"{fmt.share(taken.left_out)} of rounds were" if taken.left_out else "no round was"
    return (
        f"{text}: {fmt.share(taken.median)} of its time in the median process and "
        f"{fmt.share(taken.most)} at most; {rounds} left out as a whole."
    )


def outcome(counts: Mapping[ClaimWord, int]) -> str:
    """The word that all agree on, or how many have which."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{number} {word}" for word, number in counts.items())


def unpaired(runs: Unpaired) -> str:
    """How two runs could be compared that shared no blocks."""
    if runs.controls:
        return (
            f"The runs shared no blocks. Controls that stayed unchanged ({listed(runs.controls)}) "
            "show how far the machine drifted between them; that drift has been subtracted. What "
            "is constant within a run, such as memory layout, is in no interval, so a verdict here "
            "is one between runs."
        )
    return (
        "The runs shared no blocks, and no runner stayed unchanged to serve as a control. A "
        "difference may be the machine's, so there are no verdicts. Measure both in one run, with "
        "`./just compare BASE NEW`."
    )


def holding(machines: Holding) -> str:
    """What holds on the machines, and what does not."""
    if not machines.of:
        return "There is no comparison that could hold or not."
    parts: list[str] = []
    for word, (single, several) in HOLDS.items():
        if number := machines.counts.get(word, 0):
            verb, _, rest = several.partition(" ")
            parts.append(f"{number} {single if number == 1 else verb} {rest}")
    return f"Of {counted(machines.of, 'comparison')} with {machines.reference}, {listed(parts)}."


def agreed(group: Agreed) -> str:
    """In how many cases of a group each runner is faster, slower or equivalent on most machines."""
    parts = [
        f"{runner} is {listed([f'{s} in {sides[s]}' for s in SIDES if sides.get(s)])}"
        for runner, sides in group.sides.items()
    ]
    cases = counted(group.cases, "case")
    return f"{capital(group.group)} ({cases}), on all or most machines: {'; '.join(parts)}."


def canary(summary: CanarySummary) -> str:
    """What comparing the reference with itself showed."""
    runner = summary.runner or "the runner that a case's figures are about"
    if summary.furthest is None:
        return f"Canary: {runner} against itself could not be tested in this run."
    text = (
        f"Canary: {runner} against itself differs in {summary.alarms} of "
        f"{counted(summary.tested, 'case')} (chance alone gives about {summary.expected:.1f}); the "
        f"ratio furthest from 1 is {ratio(summary.furthest)}."
    )
    if summary.many:
        text += " That is more than chance explains: do not trust small differences in this run."
    return text


def noise(graded: Noise) -> tuple[str, str]:
    """The grade, and what follows from it."""
    if graded.grade is None:
        return (
            "No canary ran, so the noise of this run is not known.",
            "Intervals and verdicts rest on the blocks alone.",
        )
    parts = [f"{grade} in {number}" for grade, number in graded.counts.items()]
    cases = counted(sum(graded.counts.values()), "case")
    summary = f"Noise grade {graded.grade}: {', '.join(parts)} of {cases}; {MEANING[graded.grade]}."
    if graded.missed:
        summary += (
            f" The canary differs from itself in {graded.missed} of "
            f"{counted(graded.tested, 'case')} at 1 %, more than chance explains: this run's "
            "intervals are too narrow."
        )
    consequences: list[str] = []
    if graded.finds:
        ends = " to ".join(dict.fromkeys(fmt.percent(end) for end in graded.finds))
        consequences.append(
            f"In the {counted(graded.counts['C'], 'case')} of grade C half of the comparisons find "
            f"a difference of {ends} in four of five runs."
        )
    if graded.guards:
        ends = " to ".join(dict.fromkeys(fmt.percent(end) for end in graded.guards))
        consequences.append(
            f"In {counted(graded.guarded, 'case')} the canary differs from itself: a verdict there "
            f"needs the whole interval beyond that difference ({ends})."
        )
    if graded.untested:
        consequences.append(
            f"In {counted(graded.untested, 'case')} the canary could not be tested: intervals and "
            "verdicts rest on the blocks alone."
        )
    return summary, " ".join(consequences) or "Every verdict stands as it is."


def capital(text: str) -> str:
    """With a capital letter; the rest keeps its case."""
    return text[:1].upper() + text[1:]
