"""Headline, notices and trust as sentences; their numbers are written by `format`."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from string import Formatter
from typing import Any

from sqlitmus.render.document import decision, format as fmt
from sqlitmus.render.document.ranking import Amounts, left_out, ratio, say
from sqlitmus.results import recommendation, report as results
from sqlitmus.results.ranking import Interval
from sqlitmus.vocabulary.text import by_value, capital, counted, listed, some
from sqlitmus.vocabulary.verdicts import ClaimWord, HoldsWord, Side

# What is said of the settings of which this is the upshot; no more than one sentence each.
_SAID: dict[recommendation.Counsel, str] = {
    "set it": "Worth setting: {}.",
    "your decision": "Your decision, because a commit then promises less: {}.",
    "both": "Helps some queries and hurts others: {}.",
    "leave it": "Leave it: {}.",
    "does nothing": "Does nothing here, within {margin}: {}.",
    "is so already": "Is so already: {}.",
    "open": "Not resolved: {}.",
    "no answer": "Without an answer: {}.",
}


def sentences(advice: recommendation.Advice) -> list[str]:
    """What the first screen says, a sentence for each upshot that a setting has."""
    margin = f"{100 * advice.margin:g} %"
    parts: list[str] = []
    for counsel, text in _SAID.items():
        names = [_named(s, counsel) for s in advice.settings if s.counsel == counsel]
        if names:
            parts.append(text.format(listed(names), margin=margin))
    return parts


def best(advice: recommendation.Advice) -> str:
    """What is worth setting and by how much it helps where it does most, or else the first upshot
    that any setting has: one sentence of a few settings."""
    for counsel, text in _SAID.items():
        such = [(setting, _most(setting, "helps")) for setting in advice.settings
                if setting.counsel == counsel]  # fmt: skip
        if such:
            such.sort(key=lambda pair: pair[1][1].value if pair[1] else 1.0)
            names = some(
                [setting.title + (_at_best(*most) if most else "") for setting, most in such]
            )
            return text.format(names, margin=f"{100 * advice.margin:g} %")
    return ""


def _most(
    setting: recommendation.Setting, effect: recommendation.Effect
) -> tuple[recommendation.Tried, Interval] | None:
    """Where it helps or hurts most."""
    timed = [(tried, tried.contrast.ratio) for tried in setting.of(effect) if tried.contrast]
    sign = 1 if effect == "helps" else -1
    return min(timed, key=lambda pair: sign * pair[1].value, default=None)


def _at_best(tried: recommendation.Tried, ratio: Interval) -> str:
    """` (scans large 0.66×)`."""
    where = " ".join(filter(None, (tried.group, tried.database)))
    return f" ({where} {fmt.ratio(ratio)[0]})"


def _named(setting: recommendation.Setting, counsel: recommendation.Counsel) -> str:
    """The setting, and by how much it helps or hurts where it does so most."""
    effects: list[recommendation.Effect] = (
        ["helps", "hurts"] if counsel in ("both", "leave it") else ["helps"]
    )
    amounts: list[str] = []
    for tried, value in filter(None, (_most(setting, effect) for effect in effects)):
        database = f" ({tried.database})" if tried.database else ""
        amounts.append(f"{tried.group}{database} take {ratio(value)}")
    return f"{setting.title} ({', '.join(amounts)} as long)" if amounts else setting.title


# A notice as a sentence.

NOTICES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# How names, and values by name, are written.
WRITE: dict[str, Callable[[Any], str]] = {
    "all": listed,
    "some": some,
    "or": " or ".join,
    "first": lambda names: names[0],
    "by value": partial(by_value, most=6),
    "by name": lambda values: "; ".join(f"{name} in {value}" for name, value in values.items()),
    "in brackets": lambda values: some([f"{n} ({value})" for n, value in values.items()]),
}


class _Wording(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        """In one of these ways, or a number with the noun that stands in its place."""
        if write := WRITE.get(format_spec):
            return write(value)
        if isinstance(value, int) and format_spec:
            return counted(value, format_spec)
        return format(value, format_spec)


def notice(about: results.Notice) -> str:
    """One notice as a sentence or more."""
    more = {"number": len(about.names), "percent": 100 * about.level}
    text = _Wording().vformat(NOTICES[about.kind], (), {**asdict(about), **more})
    return f"{about.run}: {text}" if about.run else text


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


def statement(about: results.Statement) -> str:  # noqa: C901, PLR0911, PLR0912 — a sentence per kind
    """One sentence of a headline."""
    match about:
        case results.Broken():
            return (
                f"{about.runner} {PROBLEMS[about.outcome]} in {len(about.cases)} of "
                f"{counted(about.of, 'case')} ({some(about.cases)}): no times are given for these."
            )
        case results.Missing():
            return ended(f"{about.runner} is missing: {about.reason}")
        case results.FewBlocks():
            return (
                f"With {counted(about.blocks, 'complete block')} this run gives no verdicts: "
                f"they need at least {about.least} blocks."
            )
        case results.Group():
            return group(about)
        case results.NoOrder():
            return {
                "controls": "Only controls were measured; they choose no runtime.",
                "no two": "No two runners can be compared in what was measured.",
                "nothing": "Nothing was measured.",
            }[about.measured]
        case results.ClaimOutcomes():
            rows = sum(about.counts.values())
            figures = f"{counted(rows, 'figure')} {'decides' if rows == 1 else 'decide'}"
            claims = counted(about.claims, "published claim")
            return ended(f"{figures} {claims}: {outcome(about.counts)}")
        case results.Unpaired():
            return unpaired(about)
        case results.Holding():
            return holding(about)
        case results.Agreed():
            return agreed(about)
        case results.Contradicted():
            pairs = [f"{runner} in {case}" for runner, case in about.pairs]
            return f"It depends on the machine: {some(pairs)}."
        case results.Recorded():
            return about.text
        case recommendation.Recommendation():
            return " ".join(decision.workload_sentences(about))
        case recommendation.Weighed():
            return " ".join(decision.choice_sentences(about.choices[0], about))
        case recommendation.Advice():
            return " ".join(sentences(about))


def group(ordered: results.Group) -> str:
    """The order of a group; each of its runners is named."""
    order = ordered.ranking
    out = [left_out(excluded, some(excluded.cases)) for excluded in order.excluded]
    cases = counted(ordered.cases, "case")
    return f"{capital(ordered.group)} ({cases}): {' '.join([*say(order), *out])}"


def so_far(report: results.Report) -> str:
    """Where a run stands, in a line: who is ahead or, until there are verdicts, what each takes."""
    block = f"block {report.blocks_complete} of {report.blocks_planned}"
    decided = next(
        (
            a
            for a in report.headline
            if isinstance(a, recommendation.Weighed | recommendation.Recommendation)
        ),
        None,
    )
    choice = decided.choices[0] if isinstance(decided, recommendation.Weighed) else decided
    amounts = decision.amounts(choice) if choice and choice.costs else None
    if any(isinstance(about, results.FewBlocks) for about in report.headline):
        amounts = amounts or _means(report)
        takes = listed([f"{name} {text}" for name, text in amounts.texts.items()])
        return f"{block}, still open: {takes}{amounts.per}"
    ranked = say(choice.ranking, amounts) if choice and amounts else ()
    return f"{block}: {' '.join(ranked or map(statement, report.headline))}"


def _means(report: results.Report) -> Amounts:
    """The geometric mean of each runner's times over the cases that all of them completed."""
    times = [{c.runner: c.time.value for c in case.cells if c.time} for case in report.cases]
    names = {name for row in times for name in row}
    whole = [row for row in times if row.keys() == names]
    means = {name: geometric_mean(row[name] for row in whole) for name in names if whole}
    texts = {name: fmt.duration(means[name]) for name in sorted(means, key=means.__getitem__)}
    per = f" (geometric mean of {counted(len(whole), 'case')})"
    return Amounts(texts, per if whole else "no case has a time of every runner")


def definition(report: results.Report) -> str:
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


def unpaired(runs: results.Unpaired) -> str:
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


def holding(machines: results.Holding) -> str:
    """What holds on the machines, and what does not."""
    if not machines.of:
        return "There is no comparison that could hold or not."
    parts: list[str] = []
    for word, (single, several) in HOLDS.items():
        if number := machines.counts.get(word, 0):
            verb, _, rest = several.partition(" ")
            parts.append(f"{number} {single if number == 1 else verb} {rest}")
    return f"Of {counted(machines.of, 'comparison')} with {machines.reference}, {listed(parts)}."


def agreed(group: results.Agreed) -> str:
    """In how many cases of a group each runner is faster, slower or equivalent on most machines."""
    parts = [
        f"{runner} is {listed([f'{s} in {sides[s]}' for s in SIDES if sides.get(s)])}"
        for runner, sides in group.sides.items()
    ]
    cases = counted(group.cases, "case")
    return f"{capital(group.group)} ({cases}), on all or most machines: {'; '.join(parts)}."


def trust(report: results.Report) -> Iterator[str]:
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


def control(summary: results.CanarySummary) -> str:
    """What comparing the reference with itself showed."""
    runner = summary.runner or "the runner that a case's figures are about"
    if summary.furthest is None:
        return f"A/A control: {runner} against itself could not be tested in this run."
    return (
        f"A/A control: {runner} against itself differs at 1 % in {summary.alarms} of "
        f"{counted(summary.tested, 'case')}; the ratio furthest from 1 is "
        f"{ratio(summary.furthest)}."
    )
