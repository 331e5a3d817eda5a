"""Headline, notices and trust as sentences; their numbers are written by `format`."""

from collections.abc import Callable, Iterator, Mapping
from statistics import geometric_mean

from sqlitmus.render.document import decision
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.ranking import Amounts, left_out, ratio, say
from sqlitmus.results.recommendation import (
    Advice,
    Counsel,
    Effect,
    Recommendation,
    Setting,
    Tried,
    Weighed,
)
from sqlitmus.results.report import (
    Agreed,
    Broken,
    CanarySummary,
    ClaimOutcomes,
    Contradicted,
    FewBlocks,
    Group,
    Holding,
    Missing,
    NoOrder,
    Notice,
    NoticeKind,
    Recorded,
    Report,
    Statement,
    Unpaired,
)
from sqlitmus.vocabulary.text import by_value, counted, listed, some
from sqlitmus.vocabulary.verdicts import ClaimWord, HoldsWord, Side

# What is said of the settings of which this is the upshot; no more than one sentence each.
_SAID: dict[Counsel, str] = {
    "set it": "Worth setting: {}.",
    "your decision": "Your decision, because a commit then promises less: {}.",
    "both": "Helps some queries and hurts others: {}.",
    "leave it": "Leave it: {}.",
    "does nothing": "Does nothing here, within {margin}: {}.",
    "is so already": "Is so already: {}.",
    "open": "Not resolved: {}.",
    "no answer": "Without an answer: {}.",
}


def sentences(advice: Advice) -> list[str]:
    """What the first screen says, a sentence for each upshot that a setting has."""
    margin = f"{100 * advice.margin:g} %"
    parts: list[str] = []
    for counsel, text in _SAID.items():
        names = [_named(s, counsel) for s in advice.settings if s.counsel == counsel]
        if names:
            parts.append(text.format(listed(names), margin=margin))
    return parts


def best(advice: Advice) -> str:
    """What is worth setting and by how much it helps where it does most, or else the first upshot
    that any setting has: one sentence of a few settings."""
    for counsel, text in _SAID.items():
        such = [setting for setting in advice.settings if setting.counsel == counsel]
        if such:
            such.sort(key=lambda setting: min(map(_least, setting.tried), default=1.0))
            names = some([setting.title + _at_best(setting) for setting in such])
            return text.format(names, margin=f"{100 * advice.margin:g} %")
    return ""


def _least(tried: Tried) -> float:
    return tried.contrast.ratio.value if tried.contrast and tried.effect == "helps" else 1.0


def _at_best(setting: Setting) -> str:
    """` (scans large 0.66×)`, nothing of a setting that never helps."""
    helping = [tried for tried in setting.of("helps") if tried.contrast]
    tried = min(helping, key=_least, default=None)
    if tried is None or tried.contrast is None:
        return ""
    where = " ".join(filter(None, (tried.group, tried.database)))
    return f" ({where} {fmt.ratio(tried.contrast.ratio)[0]})"


def _named(setting: Setting, counsel: Counsel) -> str:
    """The setting, and by how much it helps or hurts where it does so most."""
    wanting: list[Effect] = ["helps", "hurts"] if counsel in ("both", "leave it") else ["helps"]
    best = [
        min(such, key=lambda tried: _value(tried, effect))
        for effect in wanting
        if (such := [tried for tried in setting.of(effect) if tried.contrast])
    ]
    if not best:
        return setting.title
    amounts = [
        f"{_where(each)} take {ratio(each.contrast.ratio)}" for each in best if each.contrast
    ]
    return f"{setting.title} ({', '.join(amounts)} as long)"


def _value(tried: Tried, effect: Effect) -> float:
    value = tried.contrast.ratio.value if tried.contrast else 1.0
    return value if effect == "helps" else -value


def _where(tried: Tried) -> str:
    return f"{tried.group} ({tried.database})" if tried.database else tried.group


# A notice as a sentence.


def notice(about: Notice) -> str:
    """One notice as a sentence or more."""
    text = NOTICES[about.kind](about)
    return f"{about.run}: {text}" if about.run else text


def _in_brackets(values: Mapping[str, str]) -> str:
    """Names, each with its value in brackets."""
    return listed([f"{name} ({value})" for name, value in values.items()])


def per_name(values: Mapping[str, str]) -> str:
    """`a in x; b in y and z`."""
    return "; ".join(f"{name} in {value}" for name, value in values.items())


NOTICES: dict[NoticeKind, Callable[[Notice], str]] = {
    "unfinished": lambda n: (
        f"The run was not finished: {n.count} of {n.of} blocks are complete. Comparisons use only "
        "blocks in which both runners have a value."
    ),
    "under way": lambda n: (
        f"Block {n.count} of {n.of}, under way: reload for newer figures, and decide at the end."
    ),
    "control": lambda n: (
        f"The A/A control differs from itself at 1 % in {n.count} of {counted(n.of, 'case')}, more "
        "than chance explains: the intervals of this run are too narrow. Measure again on a "
        "quieter machine."
    ),
    "settled": lambda n: (
        f"The run was settled at the planned look after {n.count} of {n.of} blocks; its verdicts "
        f"are given at {100 * n.level:.2g} %, the level for each of {n.looks} looks."
    ),
    "ended": lambda n: (
        f"{counted(n.count, 'case')} had an answer to every comparison at the planned look after "
        f"{listed(n.names)} blocks and ended there; the time saved went to the others, which have "
        f"{n.of}."
    ),
    "shared": lambda n: (
        f"{counted(n.count, 'case')} got {' or '.join(n.names)} blocks and the others {n.of}: the "
        "time went where the pilot foretold that more blocks answer more."
    ),
    "holes": lambda n: (
        f"Only {n.count} of {n.of} blocks hold all cells, although the run was finished."
    ),
    "late": lambda n: (
        f"{counted(n.of, 'block')} were planned and {n.count} measured: they took longer than the "
        "pilot foretold, and the next one would have ended beyond the time budget. No figure "
        "decided where the run ended, so its intervals hold."
    ),
    "few blocks": lambda n: (
        f"{counted(n.count, 'complete block')}: fewer than {n.of} never give a verdict, and fewer "
        "than 2 no ratio."
    ),
    "flat": lambda n: (
        f"{counted(n.count, 'comparison')} had the same ratio in most blocks, so no interval can "
        "be had: the clock is too coarse for these, or the values were copied."
    ),
    "sqlite": lambda n: f"SQLite versions differ. {by_value(n.values)}.",
    "durability": lambda n: (
        "Durability differs in the profile shipped: synchronous is not the same everywhere, so "
        f"writes there are not like for like. {by_value(n.values)}."
    ),
    "journal": lambda n: f"Journal modes differ in the profile shipped. {by_value(n.values)}.",
    "fewer syncs": lambda n: (
        f"Syncs per transaction in {some(n.names)}: {by_value(n.values)}. Each profile there asks "
        "for one sync at each commit or more; a runner that does fewer than that, or than the "
        "floor, may lose what it committed, and its times there are not those of durable writes."
    ),
    "other syncs": lambda n: (
        f"Durability differs in the profile shipped, as counted in {some(n.names)}. Syncs per "
        f"transaction: {by_value(n.values)}. Writes there are not like for like."
    ),
    "plans": lambda n: (
        f"Query plans differ between runners in {counted(len(n.names), 'case')}: {some(n.names)}."
    ),
    "answers": lambda n: (
        f"Recorded answers disagree in {counted(len(n.names), 'case')} although each was passed as "
        f"equal: {some(n.names)}. The run's file may have been changed."
    ),
    "against oracle": lambda n: (
        f"In {counted(len(n.names), 'case')} all runners that answered agree with each other "
        f"against the oracle: {some(n.names)}. Suspect the oracle, or a scenario whose answer is "
        "not the same everywhere."
    ),
    "cores unknown": lambda _: (
        "The number of cores is not recorded, so oversubscription is not marked."
    ),
    "oversubscribed": lambda n: (
        f"{listed(n.names)} workers on {counted(n.of, 'core')} are oversubscribed: these cases "
        "measure scheduling as well."
    ),
    "not warm": lambda n: (
        f"In {counted(n.count, 'cell')} the warm-up ended before the pilot saw a steady state, so "
        f"a time depends on how long its process runs: {by_value(n.values)}. A mode with a longer "
        "warm-up gives it more time."
    ),
    "not steady": lambda n: (
        f"In {counted(n.count, 'cell')} the pilot saw no steady state: times kept going up and "
        "down after the processes had reached full speed, because of the runtime or this machine: "
        f"{by_value(n.values)}."
    ),
    "restless": lambda n: (
        "These used the processor while they waited for their turns: "
        f"{_in_brackets(n.values)}. What that took from "
        "the turns of the others made them slower."
    ),
    "warming up": lambda n: (
        "Still warming up, so compared with nothing; the second half of the timed work was faster "
        f"by: {_in_brackets(n.values)}. `--mode standard` warms up longer and times more."
    ),
    "refused": lambda n: (
        "Compared with nothing, because SQLite refused a part of the work with SQLITE_BUSY, so "
        f"that less was done than elsewhere: {_in_brackets(n.values)}."
    ),
    "other work": lambda n: (
        "Compared with nothing, because they did other work than was asked, as counted from "
        f"outside: {_in_brackets(n.values)}."
    ),
    "below floor": lambda n: (
        f"Faster than {n.names[0]}, which calls SQLite's C API and has no driver: "
        f"{per_name(n.values)}. That can be so, as where SQLite's version or options differ. "
        "Before you believe it, look for work left out, for answers that are remembered, and for "
        "commits that do not reach the disk."
    ),
    "governor": lambda n: (
        f"The CPU governor is {n.names[0]}, not performance: the clock rate may follow the load."
    ),
    "emulated": lambda n: (
        f"Not built for this machine's {n.names[0]}: {by_value(n.values)}. Their times contain an "
        "emulation (or a mode of compatibility), so comparisons with them are not like for like."
    ),
}


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
                f"With {counted(about.blocks, 'complete block')} this run gives no verdicts: "
                f"they need at least {about.least} blocks."
            )
        case Group():
            return group(about)
        case NoOrder():
            return {
                "controls": "Only controls were measured; they choose no runtime.",
                "no two": "No two runners can be compared in what was measured.",
                "nothing": "Nothing was measured.",
            }[about.measured]
        case ClaimOutcomes():
            rows = sum(about.counts.values())
            figures = f"{counted(rows, 'figure')} {'decides' if rows == 1 else 'decide'}"
            claims = counted(about.claims, "published claim")
            return ended(f"{figures} {claims}: {outcome(about.counts)}")
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
            return " ".join(decision.workload_sentences(about))
        case Weighed():
            return " ".join(decision.choice_sentences(about.choices[0], about))
        case Advice():
            return " ".join(sentences(about))


def group(ordered: Group) -> str:
    """The order of a group; each of its runners is named."""
    order = ordered.ranking
    out = [left_out(excluded, some(excluded.cases)) for excluded in order.excluded]
    cases = counted(ordered.cases, "case")
    return f"{capital(ordered.group)} ({cases}): {' '.join([*say(order), *out])}"


def so_far(report: Report) -> str:
    """Where a run stands, in a line: who is ahead or, until there are verdicts, what each takes."""
    block = f"block {report.blocks_complete} of {report.blocks_planned}"
    decided = next((a for a in report.headline if isinstance(a, Weighed | Recommendation)), None)
    choice = decided.choices[0] if isinstance(decided, Weighed) else decided
    amounts = decision.amounts(choice) if choice and choice.costs else None
    if any(isinstance(about, FewBlocks) for about in report.headline):
        amounts = amounts or _means(report)
        takes = listed([f"{name} {text}" for name, text in amounts.texts.items()])
        return f"{block}, still open: {takes}{amounts.per}"
    ranked = say(choice.ranking, amounts) if choice and amounts else ()
    return f"{block}: {' '.join(ranked or map(statement, report.headline))}"


def _means(report: Report) -> Amounts:
    """The geometric mean of each runner's times over the cases that all of them completed."""
    times = [{c.runner: c.time.value for c in case.cells if c.time} for case in report.cases]
    names = {name for row in times for name in row}
    whole = [row for row in times if row.keys() == names]
    means = {name: geometric_mean(row[name] for row in whole) for name in names if whole}
    texts = {name: fmt.duration(means[name]) for name in sorted(means, key=means.__getitem__)}
    per = f" (geometric mean of {counted(len(whole), 'case')})"
    return Amounts(texts, per if whole else "no case has a time of every runner")


def definition(report: Report) -> str:
    """What a time is, and what others took meanwhile; nothing in a report without such times."""
    if all(case.metric != "steady" for case in report.cases):
        return ""
    text = (
        "The time per operation is all time of steady work over its operations, with the "
        "collections, checkpoints, page-cache misses and page splits that it causes. Only what "
        "other programs took from a thread in turns is left out"
    )
    taken = report.taken
    if taken is None:
        return f"{text}."
    rounds = f"{fmt.percent(taken.left_out)} of rounds" if taken.left_out else "no round"
    return (
        f"{text}: {fmt.percent(taken.median)} of the median process, {fmt.percent(taken.most)} at "
        f"most, and {rounds} as a whole."
    )


def outcome(counts: Mapping[ClaimWord, int]) -> str:
    """The word that all agree on, or how many have which."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{number} {word.short}" for word, number in counts.items())


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


def trust(report: Report) -> Iterator[str]:
    """Which differences the run finds, and what its A/A control showed."""
    if report.detectable:
        middle, *ends = map(fmt.percent, report.detectable)
        number = sum(case.detectable is not None for case in report.cases)
        several = f" in the median of {number} cases ({' to '.join(ends)})"
        where = several if number > 1 else ""
        sittings = f" over {report.sittings} sittings" if report.sittings > 1 else ""
        yield f"Detectable with 80 % power{sittings}: {middle}{where}."
    if report.canary:
        yield control(report.canary)


def control(summary: CanarySummary) -> str:
    """What comparing the reference with itself showed."""
    runner = summary.runner or "the runner that a case's figures are about"
    if summary.furthest is None:
        return f"A/A control: {runner} against itself could not be tested in this run."
    return (
        f"A/A control: {runner} against itself differs at 1 % in {summary.alarms} of "
        f"{counted(summary.tested, 'case')}; the ratio furthest from 1 is "
        f"{ratio(summary.furthest)}."
    )


def capital(text: str) -> str:
    """With a capital letter; the rest keeps its case."""
    return text[:1].upper() + text[1:]
