"""How the numbers came about, in the report's words; docs/method.md has formulas and reasons."""

from sqlitmus.catalog.plan import Plan
from sqlitmus.stats.multiplicity import EARLY, pocock
from sqlitmus.stats.verdict import ALPHA, MIN_BLOCKS
from sqlitmus.vocabulary.nouns import listed
from sqlitmus.vocabulary.terms import Level

_TEXT = """
Every answer was checked against the oracle before anything was timed. A runner that answers
differently has no time.

{blocks} blocks were planned. In each block every runner does every case once, in a fresh process;
the runners of a case go one right after the other, in random order and in the next block in the
mirrored order (seed {seed}).

A process counts as one sample: {steady} per unit of work (steady), or its whole wall time (cold).
The two are never mixed. {planned} {turns}

A cell's time is the median over blocks with the sign test's 95 % interval.

CPU time is compared only where all runners of a case did the same iterations after the same
warm-up; memory and the time of the whole process only where no process warmed up by time.

A ratio is the 20 % trimmed mean of the per-block log ratios with Yuen's 95 % interval.

Verdicts: faster or slower if that interval excludes 1, materially if all of it is more than
{margin:g} % away, equivalent if the 90 % interval lies within {margin:g} %, otherwise not resolved.
Fewer than {least} blocks give no verdict. {correction} {looks}

{canary} runs twice in each block, the second time as a canary. Cases whose canary is wide or
differs from itself are graded C: there a verdict needs the whole interval beyond what the canary
did to itself. {sessions}

A group's ratio is the geometric mean over the cases that all runners compared in that group
completed; its error is that of the blocks' means over these cases. The intervals of all groups
and pairs are widened (Bonferroni) until all of them are right in {all:g} % of runs; the sentences
at the top of a report are read off these.

Binding overhead is the trimmed mean of the per-block difference to the floor, which calls SQLite's
C API directly.
"""


_CANARY = ("The reference", "Of each case the runner that its published figures are about")
_CORRECTIONS = {
    "none": (
        "Verdicts are not corrected for the number of comparisons: of 20 comparisons between equal "
        "things expect one false difference."
    ),
    "holm": (
        "Verdicts are corrected for the number of comparisons by Holm's procedure: the chance of "
        "any false difference among all of them is at most 5 %."
    ),
    "bh": (
        "Verdicts are exploratory and corrected by Benjamini and Hochberg's procedure: of the "
        "differences that are claimed at most 5 % are expected to be false."
    ),
}
_LOOKS = (
    "The run could end at any of {looks} planned looks, so each verdict is given at Pocock's "
    "level, {level:.2g} % in place of 5 %: all looks together then err in 5 %. Intervals remain "
    "those of 95 %."
)
_SHARES = (
    "A case could end at {early}, once all of its comparisons had an answer there. Earlier looks "
    "spend {spent:.2g} % of the error and the last one the rest: p-values are divided by their "
    "look's share before they are corrected. Intervals remain those of 95 %."
)
_PLANNED = (
    "In cases under load at a planned rate it is the latency that 99 % of the process's operations "
    "have at most, from their planned start (p99); cells whose operations the machine itself "
    "started more than 0.5 ms late are compared with nothing."
)
_TURNS = (
    "The processes of a steady case are alive at once and take turns: {rounds} rounds in fresh "
    "random order, each turn a lead-in, in which caches fill again, and a lap, which counts. "
    "{level}{lead_in}"
)
_STEADY: dict[tuple[Level, bool], str] = {  # of a process, which may take turns
    ("total", False): "all time of its timed iterations",
    ("total", True): "all time of its laps that count",
    ("median", False): "its median iteration",
    ("median", True): "its level over its laps",
}
_LEVELS: dict[Level, str] = {
    "total": (
        "What other programs took from a single thread is taken off, and a round in which they "
        "took more than a fifth of anybody's lap counts for nobody."
    ),
    "median": (
        "A level is the 25 % trimmed mean of the laps relative to the median of their round."
    ),
}
_SESSIONS = (
    "The blocks are those of {sessions} sessions, combined by random effects: an interval says "
    "what holds for sessions like these, not for one of them."
)


def _lead_ins(plan: Plan) -> str:
    """How long lead-ins last, as the pilot found operations to take."""
    lengths = [
        counts.lead_in * case.operations * counts.operation_ns / 1e6
        for case in plan.cases
        for counts in plan.counts.get(case.id, {}).values()
        if counts.rounds and counts.operation_ns
    ]
    if not lengths:
        return ""
    least, most = (
        f"{length:.0f}" if length >= 10 else f"{length:.2g}"
        for length in (min(lengths), max(lengths))
    )
    return (
        f" Lead-ins last {least} ms." if least == most else f" Lead-ins last {least} to {most} ms."
    )


def _looks(plan: Plan) -> str:
    if plan.looks == 1:
        return ""
    if plan.gate is not None:
        return _LOOKS.format(looks=plan.looks, level=100 * pocock(plan.looks))
    early = "an earlier look" if plan.looks == 2 else f"{plan.looks - 1} earlier looks"
    return _SHARES.format(early=early, spent=100 * EARLY)


def method(plan: Plan) -> list[str]:
    """One paragraph per statistic, with the plan's own figures."""
    turns = sorted({c.rounds for of in plan.counts.values() for c in of.values() if c.rounds})
    text = _TEXT.format(
        blocks=plan.blocks,
        steady=_STEADY[plan.level, bool(turns)],
        turns=_TURNS.format(
            rounds=listed(list(map(str, turns))),
            level=_LEVELS[plan.level],
            lead_in=_lead_ins(plan),
        )
        if turns
        else "",
        planned=_PLANNED if any(case.metric == "p99" for case in plan.cases) else "",
        seed=plan.seed,
        margin=100 * plan.margin,
        least=MIN_BLOCKS,
        all=100 * (1 - ALPHA),
        correction=_CORRECTIONS[plan.correction],
        looks=_looks(plan),
        canary=_CANARY[bool(plan.claims)],
        sessions="" if plan.sessions == 1 else _SESSIONS.format(sessions=plan.sessions),
    )
    return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
