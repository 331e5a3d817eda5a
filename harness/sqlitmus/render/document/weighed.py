"""Which runner suits which use: sentences for the first screen.

The page's script words other calls by the same rules; a test holds the two together.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.order import ratio
from sqlitmus.render.document.recommendation import left_out, settled_by
from sqlitmus.results.recommendation import Beside, Change
from sqlitmus.results.sustained import Sustained, Sustaining
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
    names = weighed.names
    yielded = [decision(choice, names), *_others(choice), *_spent(choice, names)]
    yielded += _out(choice, names)
    if choice.open:
        yielded.append(settled_by(choice.open, weighed.again))
    if choice.others or len(choice.front) > 1:
        yielded += would(choice.changes, choice.front, names)
    yielded += map(catches_up, choice.catching)
    if weighed.sustaining:
        yielded += sustained(weighed.sustaining, choice.front)
    shown = {*choice.front, *(other.runner for other in choice.others)}
    return yielded + [aged(engine) for engine in weighed.old if engine.runner in shown]


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
    return f"For {choice.title} ({called(choice.calls, names)} {PER}): {_verdict(choice)}"


def _verdict(choice: Choice) -> str:
    if choice.lacking:
        noun = "case" if len(choice.lacking) == 1 else "cases"
        return f"this run has no {noun} {listed(choice.lacking)}, so nobody is ranked."
    if choice.blocks < choice.least:
        have = counted(choice.blocks, "whole block")
        return f"nobody is ranked; the run has {have}, and fewer than {choice.least} tell nothing."
    return _ahead(choice)


def _ahead(choice: Choice) -> str:
    front = choice.front
    if not front:
        limits = " within the limits" if choice.beyond else ""
        return f"nobody is recommended; no runner completed all of these{limits}."
    what = "start-up and database time" if choice.starts else "database time"
    time = {cost.runner: _time(cost) for cost in choice.beside}
    if len(front) == 1:
        if not choice.others:
            return f"{front[0]} alone is left, and there is nobody to compare it with."
        return f"{front[0]} spends the least {what}, {time[front[0]]} {PER}."
    are = "equivalent" if choice.alike else "not told apart"
    each = [f"{front[0]} spends {time[front[0]]}", *(f"{name} {time[name]}" for name in front[1:])]
    return f"{listed(front)} are {are}: {listed(each)} of {what} {PER}."


def _time(cost: Beside) -> str:
    return fmt.duration(cost.time and cost.time.value)


def _others(choice: Choice) -> Iterator[str]:
    time = {cost.runner: _time(cost) for cost in choice.beside}
    apart = [other for other in choice.others if other.verdict.different]
    rest = [other.runner for other in choice.others if not other.verdict.different]
    if apart:
        first, *more = apart
        base = choice.front[0]
        taken = [f"{first.runner} spends {time[first.runner]} ({ratio(first.ratio)} of {base}'s)"]
        taken += [f"{each.runner} {time[each.runner]} ({ratio(each.ratio)})" for each in more]
        yield f"{listed(taken)}."
    if rest:
        verb = "is" if len(rest) == 1 else "are"
        names = listed([f"{name} ({time[name]})" for name in rest])
        yield f"{names} {verb} slower than one of these, by how much is not resolved."


def _spent(choice: Choice, names: Mapping[str, str]) -> Iterator[str]:
    """What most of the time is, or what the time of the first consists of."""
    shown = [*choice.front, *(other.runner for other in choice.others)]
    parts = {cost.runner: cost.parts for cost in choice.beside}
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


def _out(choice: Choice, names: Mapping[str, str]) -> Iterator[str]:
    yield from map(left_out, choice.beyond)
    if choice.unrated:
        yield (
            f"The rate that has to be sustained was not checked for {listed(choice.unrated)}; "
            "./just sustain measures it."
        )
    for runner, cases in choice.absent.items():
        missing = listed([plural(names[case]) for case in cases])
        yield f"{runner} is left out: it has no time to compare for {missing}."


def would(changes: Sequence[Change], front: list[str], names: Mapping[str, str]) -> Iterator[str]:
    """What would change a decision; for several in front, what would tell one from the others."""
    telling: dict[str, list[str]] = {}
    for change in changes:
        case, runner = plural(names[change.query]), change.runner
        if change.calls is None:
            telling.setdefault(runner, []).append(case)
            continue
        yield (
            f"With more than about {about(change.calls)} {case} {PER}, {runner} would spend less "
            f"than {front[0]}: for {case} alone, it takes {ratio(change.ratio)} as long."
        )
    for runner, cases in telling.items():
        each = "each of " if len(cases) > 1 else ""
        others = [name for name in front if name != runner]
        yield f"For {each}{listed(cases)} alone, {runner} is shown to be ahead of {listed(others)}."


def about(number: float) -> str:
    """A number of two significant digits: `2,400`, `0.35`."""
    step = 10.0 ** (floor(log10(number)) - 1)
    return f"{floor(number / step + 0.5) * step:,.6g}"


def catches_up(of: CatchUp) -> str:
    """In which variant of a case a runner is not slower."""
    if of.verdict is Verdict.EQUIVALENT:
        then = f"is equivalent to {of.reference}"
    else:
        then = f"takes {ratio(of.ratio)} as long as {of.reference}"
    return f"In {of.variant}, {of.runner} {then}; in {of.case} it takes {ratio(of.before)}."


def aged(engine: OldEngine) -> str:
    """Why a runner's figures are not its own alone."""
    return (
        f"{engine.runner} has SQLite {engine.version}, years older than {engine.newest}: what it "
        "takes is its engine's time, too."
    )


def sustained(sustaining: Sustaining, names: Sequence[str]) -> Iterator[str]:
    """What those of `names` sustain of whom it is known, and what that costs."""
    of = {each.runner: each for each in sustaining.runners}
    amounts = [amount for name in names if name in of and (amount := _amount(of[name]))]
    if amounts:
        yield f"{_asked(sustaining)} {'; '.join(amounts)}."


def _asked(sustaining: Sustaining) -> str:
    return (
        f"Sustained with a p99 within {fmt.duration(sustaining.limit_ns)}, "
        f"{100 * sustaining.reads:g} % of it reads (./just sustain, {sustaining.created[:10]}):"
    )


def _amount(of: Sustained) -> str:
    if not of.rate:
        return ""
    text, bounds = fmt.rate(of.rate)
    rate = " ".join(filter(None, [of.runner, of.bound, text, bounds]))
    return f"{rate}, {fmt.duration(of.cpu_s.value * 1e9)} of CPU a million" if of.cpu_s else rate


def sustained_parts(sustaining: Sustaining | None) -> tuple[str, dict[str, str]]:
    """The same in parts, by runner, for the page's script."""
    if sustaining is None:
        return "", {}
    parts = {each.runner: amount for each in sustaining.runners if (amount := _amount(each))}
    return _asked(sustaining), parts


def whole(share: float) -> int:
    """A share in percent; halves go up, as in the page's script."""
    return int(100 * share + 0.5)
