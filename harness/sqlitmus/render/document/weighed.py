"""Which runner suits which use: sentences for the first screen.

The page's script words other weights by the same rules; a test holds the two together.
"""

from collections.abc import Iterator, Sequence

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.order import ratio
from sqlitmus.render.document.recommendation import left_out, settled_by
from sqlitmus.results.recommendation import Change
from sqlitmus.results.sustained import Sustained, Sustaining
from sqlitmus.results.weighed import CatchUp, Choice, OldEngine, Weighed
from sqlitmus.vocabulary.nouns import counted, listed
from sqlitmus.vocabulary.verdicts import Verdict


def text(weighed: Weighed) -> str:
    """What is weighed of the preset in front."""
    return " ".join(sentences(weighed.choices[0], weighed))


def sentences(choice: Choice, weighed: Weighed) -> list[str]:
    """The decision by a preset, then what the others take, who is left out, what would settle or
    change it, and whose SQLite is old."""
    yielded = [decision(choice), *_others(choice), *_out(choice)]
    if choice.open:
        yielded.append(settled_by(choice.open, weighed.again))
    if choice.others or len(choice.front) > 1:
        yielded += would(choice.changes, choice.front)
    yielded += map(catches_up, choice.catching)
    if weighed.sustaining:
        yielded += sustained(weighed.sustaining, choice.front)
    shown = {*choice.front, *(other.runner for other in choice.others)}
    return yielded + [aged(engine) for engine in weighed.old if engine.runner in shown]


def mixed(shares: dict[str, float]) -> str:
    """`60 % reads and 40 % lists`, the largest first."""
    ordered = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return listed([f"{_whole(share)} {group}" for group, share in ordered])


def decision(choice: Choice) -> str:
    """Who is ahead by a preset."""
    return f"For {choice.title} (a geometric mean of {mixed(choice.shares)}): {_verdict(choice)}"


def _verdict(choice: Choice) -> str:
    if choice.lacking:
        return f"this run has no cases of {listed(choice.lacking)}, so nobody is ranked."
    if choice.blocks < choice.least:
        have = counted(choice.blocks, "whole block")
        return f"nobody is ranked; the run has {have}, and fewer than {choice.least} tell nothing."
    return _ahead(choice)


def _ahead(choice: Choice) -> str:
    front = choice.front
    if not front:
        limits = " within the limits" if choice.beyond else ""
        return f"nobody is recommended; no runner completed these groups{limits}."
    if len(front) == 1:
        if not choice.others:
            return f"{front[0]} alone is left, and there is nobody to compare it with."
        return f"{front[0]} takes the least time."
    if choice.alike:
        return f"{listed(front)} are equivalent, and nobody is shown to be faster."
    return f"{listed(front)} are not told apart, and nobody is shown to be faster."


def _others(choice: Choice) -> Iterator[str]:
    apart = [other for other in choice.others if other.verdict.different]
    rest = [other.runner for other in choice.others if not other.verdict.different]
    if apart:
        taken = [f"{apart[0].runner} takes {ratio(apart[0].ratio)}"]
        taken += [f"{other.runner} {ratio(other.ratio)}" for other in apart[1:]]
        yield f"{listed(taken)} as long as {choice.front[0]}."
    if rest:
        verb = "is" if len(rest) == 1 else "are"
        yield f"{listed(rest)} {verb} slower than one of these, by how much is not resolved."


def _out(choice: Choice) -> Iterator[str]:
    yield from map(left_out, choice.beyond)
    if choice.unrated:
        yield (
            f"The rate that has to be sustained was not checked for {listed(choice.unrated)}; "
            "./just sustain measures it."
        )
    for runner, groups in choice.absent.items():
        yield f"{runner} is left out: it has no time to compare in cases of {listed(groups)}."


def would(changes: Sequence[Change], front: list[str]) -> Iterator[str]:
    """What would change a decision; for several in front, what would tell one from the others."""
    telling: dict[str, list[str]] = {}
    for change in changes:
        group, runner = change.query, change.runner
        if change.share is None:
            telling.setdefault(runner, []).append(group)
            continue
        yield (
            f"If {group} had more than about {_whole(change.share)} of the weight, {runner} would "
            f"take less time than {front[0]}: by {group} alone, it takes {ratio(change.ratio)} as "
            "long."
        )
    for runner, groups in telling.items():
        each = "each of " if len(groups) > 1 else ""
        others = [name for name in front if name != runner]
        yield f"By {each}{listed(groups)} alone, {runner} is shown to be ahead of {listed(others)}."


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


def _whole(share: float) -> str:
    """Halves go up, as in the page's script."""
    return f"{int(100 * share + 0.5)} %"
