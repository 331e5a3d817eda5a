"""Which runner suits which use: sentences for the first screen.

The page's script words other calls by the same rules; a test holds the two together.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import ranking as ranks
from sqlitmus.render.document.ranking import Amounts, ratio
from sqlitmus.results.ranking import Change, Excluded
from sqlitmus.results.weighed import CatchUp, Choice, OldEngine, Weighed
from sqlitmus.vocabulary.nouns import counted, listed
from sqlitmus.vocabulary.verdicts import Verdict

PER = "per 1,000 requests"
MOST = 0.5  # of the time is "most of it"


def text(weighed: Weighed) -> str:
    """What is said of the preset in front."""
    return " ".join(sentences(weighed.choices[0], weighed))


def sentences(choice: Choice, weighed: Weighed) -> list[str]:
    """The decision by a preset, then what the others spend and on what, who is left out, what would
    settle or change it, and whose SQLite is old."""
    names, order = weighed.names, choice.ranking
    lines = [*_decision(choice, names), *_spent(choice, names)]
    lines += [_left_out(excluded, names) for excluded in order.excluded]
    if order.open:
        lines.append(ranks.settled_by(order.open, weighed.again))
    if order.contrasts or len(order.front) > 1:
        lines += would(order.changes, order.front, names)
    lines += map(catches_up, choice.catching)
    shown = {*order.front, *(each.runner for each in order.contrasts)}
    return lines + [aged(engine) for engine in weighed.old if engine.runner in shown]


def called(calls: Mapping[str, float], names: Mapping[str, str]) -> str:
    """`600 point reads and 250 lists of 100 rows`, the most calls first."""
    ordered = sorted(calls.items(), key=lambda pair: (-pair[1], names[pair[0]]))
    return listed([many(names[case], number) for case, number in ordered])


def many(name: str, number: float) -> str:
    """`1 point read`, `2,000 point reads`."""
    return f"{number:,.10g} {name.replace('(s)', '' if number == 1 else 's')}"


def plural(name: str) -> str:
    """`point reads`."""
    return name.replace("(s)", "s")


def decision(choice: Choice, names: Mapping[str, str]) -> str:
    """Who is ahead by a preset."""
    return _decision(choice, names)[0]


def _decision(choice: Choice, names: Mapping[str, str]) -> list[str]:
    first, *rest = _verdict(choice)
    return [f"For {choice.title} ({called(choice.calls, names)} {PER}): {first}", *rest]


def _verdict(choice: Choice) -> list[str]:
    if choice.lacking:
        noun = "case" if len(choice.lacking) == 1 else "cases"
        return [f"this run has no {noun} {listed(choice.lacking)}, so nobody is ranked."]
    if choice.blocks < choice.least:
        have = counted(choice.blocks, "whole block")
        return [
            f"nobody is ranked; the run has {have}, and fewer than {choice.least} tell nothing."
        ]
    what = "start-up and database time" if choice.starts else "database time"
    times = {cost.runner: fmt.duration(cost.time and cost.time.value) for cost in choice.costs}
    return ranks.say(choice.ranking, Amounts(times, f" of {what} {PER}"))


def _spent(choice: Choice, names: Mapping[str, str]) -> Iterator[str]:
    """What most of the time is, or what the time of the first consists of."""
    order = choice.ranking
    shown = [*order.front, *(each.runner for each in order.contrasts)]
    parts = {cost.runner: cost.parts for cost in choice.costs}
    if len(shown) < 2 or len(choice.calls) < 2:
        return
    first = sorted(parts[shown[0]].items(), key=lambda pair: (-pair[1], names[pair[0]]))
    largest = first[0][0]
    shares = [parts[name][largest] for name in shown]
    if min(shares) > MOST:
        low, high = whole(min(shares)), whole(max(shares))
        between = f"{high} %" if low == high else f"{low} to {high} %"
        yield f"Most of this time goes to {plural(names[largest])}: {between}."
    else:
        each = [f"{whole(share)} % to {plural(names[case])}" for case, share in first]
        yield f"{shown[0]}'s time goes {listed(each)}."


def _left_out(excluded: Excluded, names: Mapping[str, str]) -> str:
    lacking = listed([plural(names[case]) for case in excluded.cases])
    return ranks.left_out(excluded, lacking)


def would(changes: Sequence[Change], front: list[str], names: Mapping[str, str]) -> Iterator[str]:
    """What would change a decision; for several in front, what would tell one from the others."""
    telling: dict[str, list[str]] = {}
    for change in changes:
        noun = plural(names[change.case])
        if change.calls is None:
            telling.setdefault(change.runner, []).append(noun)
        else:
            more = f"With more than about {about(change.calls)} {noun} {PER}"
            yield ranks.changed(change, front[0], noun, more)
    for runner, nouns in telling.items():
        each = "each of " if len(nouns) > 1 else ""
        others = [name for name in front if name != runner]
        yield f"For {each}{listed(nouns)} alone, {runner} is ahead of {listed(others)}."


def about(number: float) -> str:
    """A number of two significant digits: `2,400`, `0.35`."""
    step = 10.0 ** (floor(log10(number)) - 1)
    return f"{floor(number / step + 0.5) * step:,.6g}"


def catches_up(of: CatchUp) -> str:
    """In which variant of a case a runner is not slower."""
    runner, reference = of.after.runner, of.after.reference
    if of.after.verdict is Verdict.EQUIVALENT:
        then = f"is equivalent to {reference}"
    else:
        then = f"takes {ratio(of.after.ratio)} as long as {reference}"
    return f"In {of.variant}, {runner} {then}; in {of.case} it takes {ratio(of.before.ratio)}."


def aged(engine: OldEngine) -> str:
    """Why a runner's figures are not its own alone."""
    return (
        f"{engine.runner} has SQLite {engine.version}, years older than {engine.newest}: what it "
        "takes is its engine's time, too."
    )


def whole(share: float) -> int:
    """A share in percent; halves go up, as in the page's script."""
    return int(100 * share + 0.5)
