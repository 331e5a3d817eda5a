"""Who is ahead, who ties, who is behind, who is left out, and what would change it: the words.

Groups, presets and workloads use these; the page's script says the same of calls of the reader's
own, and a test holds the two together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import get_args

from sqlitmus.render.document import format as fmt
from sqlitmus.results.ranking import Change, Contrast, Excluded, Interval, Open, Ranking
from sqlitmus.results.recommendation import Again
from sqlitmus.vocabulary.text import SHOWN, counted, listed
from sqlitmus.vocabulary.verdicts import Apart, Verdict

MOST_BLOCKS = 1000
LIMITS: dict[str, str] = {
    "memory": "memory",
    "start-up": "time from start to first answer",
    "p99": "p99 of a round",
    "durability": "durability",
}
APART: dict[str, str] = {why: f"it {why}" for why in get_args(Apart)} | {
    "the load generator fell behind": "the load generator fell behind",
    "still warming up": "it was still warming up",
}


@dataclass(frozen=True, slots=True)
class Amounts:
    """What runners take, as text by name; `per` is what of, such as ` of database time per 1,000
    requests`."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    per: str = ""


NO_AMOUNTS = Amounts()


def say(ranking: Ranking, amounts: Amounts = NO_AMOUNTS) -> list[str]:
    """Who is fastest or tied, then all others: sentences."""
    return [*_front(ranking, amounts), *_others(ranking, amounts)]


def _front(ranking: Ranking, amounts: Amounts) -> Iterator[str]:
    front, share = ranking.front, f"within {100 * ranking.margin:g} %"
    if _two(ranking):
        return  # their contrast says it all
    if not front and ranking.contrasts:
        yield "no runner is fastest."
    elif not front:
        within = any(each.why in LIMITS for each in ranking.excluded) * " within the limits"
        yield f"no runner is recommended: no runner can be compared in all of these{within}."
    elif len(front) == 1 and not ranking.contrasts:
        yield f"{front[0]} alone is left, and no other can be compared with it."
    elif len(front) == 1:
        amount = amounts.texts.get(front[0])
        apart = ranking.reference and ranking.reference != front[0]
        near = f", with {listed(ranking.close)} {share} of it" if apart and ranking.close else ""
        yield f"{front[0]} is fastest{f': {amount}{amounts.per}' if amount else near}."
    else:
        tie = f"equivalent ({share})" if ranking.equivalent else "tied"
        takes = [amounts.texts[name] for name in front if name in amounts.texts]
        # where a table has what each takes, it names them all
        names = few(front) if takes else listed(front)
        span = " to ".join(dict.fromkeys([takes[0], takes[-1]])) if takes else ""
        yield f"{names} are {tie}{f': {span}{amounts.per}' if span else ''}."


def few(names: Sequence[str]) -> str:
    """All names of up to three, of more the first and how many others."""
    return listed(names) if len(names) <= SHOWN else f"{names[0]} and {len(names) - 1} others"


def _two(ranking: Ranking) -> bool:
    """Whether all that is ranked is a runner and its reference."""
    return ranking.reference is not None and len(ranking.contrasts) == 1


def _others(ranking: Ranking, amounts: Amounts) -> Iterator[str]:
    """How much longer the others take, by their references; then what else is known of them."""
    rest = list(ranking.contrasts)
    references = [*ranking.front, *(each.reference for each in ranking.contrasts)]
    for reference in dict.fromkeys(references):
        apart = [
            each
            for each in ranking.contrasts
            if each.reference == reference
            and each.verdict.different
            and not each.ratio.within(ranking.margin)
        ]
        if apart:
            yield f"{_taken(apart, amounts)}."
        rest = [each for each in rest if each not in apart]
    words: dict[str, list[str]] = {}
    for each in rest:
        tied = {each.runner, each.reference} <= {*ranking.front} and not _two(ranking)
        near = each.ratio.within(ranking.margin) and each.verdict.side != "undecided"
        if not (tied and near == ranking.equivalent):
            amount = amounts.texts.get(each.runner)
            name = f"{each.runner} ({amount})" if amount else each.runner
            words.setdefault(_what(each, ranking.margin if near else None), []).append(name)
    for what, names in words.items():
        yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} {what}."


def _taken(apart: list[Contrast], amounts: Amounts) -> str:
    """`b takes 1.5× [1.4, 1.6] and c 1.7× [1.6, 1.8] as long as a`; with amounts `b takes 11 ms
    (1.5× [1.4, 1.6] as long as a) and c 12 ms (1.7× [1.6, 1.8])`."""
    long = f" as long as {apart[0].reference}"
    taken: list[str] = []
    for place, each in enumerate(apart):
        amount, takes = amounts.texts.get(each.runner), "" if place else " takes"
        text = ratio(each.ratio)
        if amount:
            text = f"{amount} ({text}{'' if place else long})"
        taken.append(f"{each.runner}{takes} {text}")
    return listed(taken) + ("" if apart[0].runner in amounts.texts else long)


def _what(contrast: Contrast, margin: float | None) -> str:
    """What a runner is to its reference, of which no ratio is told."""
    reference = contrast.reference
    if margin is not None:
        return f"within {100 * margin:g} % of {reference}"
    if contrast.implied in ("slower", "faster"):
        return f"{contrast.implied} than {reference}, by how much is not resolved"
    if contrast.verdict is Verdict.NOT_TESTABLE:
        return f"not testable against {reference}"
    return f"tied with {reference}"


def left_out(excluded: Excluded, what: str = "") -> str:
    """Who is not ranked, and why; `what` names the cases that it lacks or that do not count, or
    where its p99 is."""
    runner = f"{excluded.runner} is left out"
    if excluded.why == "cases":
        return f"{runner}: it has no time to compare for {what}."
    if why := APART.get(excluded.why):
        figure = excluded.shown.removeprefix(excluded.why)
        return f"{runner}, for {why}{what and f' in {what}'}{figure}."
    amount = excluded.shown or "not known, because it gave no right answer there"
    if excluded.value is not None and excluded.most is not None:
        write = fmt.size if excluded.why == "memory" else fmt.duration
        amount = f"{write(excluded.value)}, the limit {write(excluded.most)}"
    return f"{runner}: its {LIMITS[excluded.why]}{what} is {amount}."


def changed(change: Change, first: str, noun: str, condition: str = "") -> str:
    """What would put another runner ahead of the `first`; `noun` is the operation of the change."""
    takes = f"takes {ratio(change.ratio)} as long"
    if not condition:
        return f"For {noun} alone, {change.runner} {takes} as {first}."
    return f"{condition}, {change.runner} would be ahead of {first}: for {noun} alone, it {takes}."


def settled_by(pair: Open, again: Again) -> str:
    """How many blocks would settle an open pair, how long they take, and the command."""
    settle = f"settle {pair.runner} against {pair.reference}"
    if pair.blocks > MOST_BLOCKS:
        return f"More than {MOST_BLOCKS:,} blocks would be needed to {settle}."
    minutes = ceil(pair.blocks * (again.block_s or 0) / 60)
    takes = f", which take about {counted(minutes, 'minute')}," if minutes else ""
    command = again_command(again)
    command = f": {command} --blocks {pair.blocks}" if command else ""
    return f"About {pair.blocks} blocks{takes} would {settle} with 80 % power{command}."


def again_command(again: Again) -> str:
    """The command without the number of blocks, or the time, that it asks for."""
    return re.sub(r" --(blocks|time-budget)[ =]\S+", "", again.command)


def ratio(value: Interval) -> str:
    """`1.04× [0.97, 1.12]`."""
    text, bounds = fmt.ratio(value)
    return f"{text} {bounds or '(no interval)'}"
