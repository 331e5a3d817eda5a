"""The recommendation of a workload: sentences for the first screen."""

import re
from collections.abc import Iterator
from math import ceil

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.order import ratio
from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import (
    Again,
    Beyond,
    Change,
    Latency,
    Open,
    Recommendation,
)
from sqlitmus.vocabulary.nouns import counted, listed

MOST_BLOCKS = 1000
_LIMITS = {
    "memory": "memory",
    "start-up": "time from start to first answer",
    "p99": "p99 of a round",
    "durability": "durability",
}


def sentences(advice: Recommendation) -> list[str]:
    """What the first screen says, a sentence or two each."""
    return [
        " ".join(part)
        for part in (list(_decision(advice)), list(_left_out(advice)), list(_would(advice)))
        if part
    ]


def _decision(advice: Recommendation) -> Iterator[str]:
    mix = listed([f"{whole(share)} {query}" for query, share in advice.shares.items()])
    workers = counted(advice.workers, "worker")
    yield f"For this workload (calls: {mix}; {workers}):"
    if not advice.front:
        yield "nobody is recommended: no runner answers all of it within its limits."
        return
    if len(advice.front) == 1:
        yield f"{advice.front[0]} takes the least time."
    elif advice.alike:
        yield f"{listed(advice.front)} are equivalent, and nobody is faster."
    else:
        yield f"{listed(advice.front)} are not told apart, and nobody is shown to be faster."
    if advice.others:
        first = advice.others[0]
        rest = [f"{other.runner} {ratio(other.ratio)}" for other in advice.others[1:]]
        taken = listed([f"{first.runner} takes {ratio(first.ratio)}", *rest])
        yield f"{taken} as long as {advice.front[0]}."


def _left_out(advice: Recommendation) -> Iterator[str]:
    timed = {latency.case: latency for latency in advice.latencies}
    yield from (left_out(over, timed.get(over.case)) for over in advice.beyond)
    if advice.unchecked:
        limits = listed([_LIMITS[limit] for limit in advice.unchecked])
        yield f"The limit on {limits} was not checked, for its cases were not measured."
    if advice.absent:
        yield f"{listed(advice.absent)} did not answer the whole mix."


def left_out(over: Beyond, timed: Latency | None = None) -> str:
    """Who exceeds which limit, and by what."""
    if over.limit == "warm-up":
        return (
            f"{over.runner} is left out, for it was still warming up: its second half took "
            f"{100 * (1 - (over.value or 0)):.1f} % less time than its first."
        )
    if over.limit == "rate" and over.value is not None and over.most is not None:
        rate, least = (fmt.rate(Interval(v, None, None))[0] for v in (over.value, over.most))
        return f"{over.runner} is left out: it sustains {rate}, and has to sustain {least}."
    rate = at(timed) if timed else ""
    return f"{over.runner} is left out: its {_LIMITS[over.limit]}{rate} is {_amount(over)}."


def at(latency: Latency) -> str:
    """The rate that a latency was measured at, as part of a sentence."""
    return "" if latency.rate is None else f" at {latency.rate:,g} queries a second"


def _amount(over: Beyond) -> str:
    if over.value is None or over.most is None:
        return over.shown or "not known, because it gave no right answer there"
    write = fmt.size if over.limit == "memory" else fmt.duration
    return f"{write(over.value)}, the limit {write(over.most)}"


def _would(advice: Recommendation) -> Iterator[str]:
    if advice.open:
        yield settled_by(advice.open, advice.again)
    for change in advice.changes:
        yield would(change, advice.front[0])


def would(change: Change, lead: str) -> str:
    """What would put another runner ahead of `lead`."""
    takes = f"{change.runner} takes {ratio(change.ratio)} as long as {lead}"
    if change.query == "start-up":
        return f"If start-up counts more than the queries: from start to first answer {takes}."
    if change.share is None:
        return f"For {change.query} alone, {takes}."
    return (
        f"If {change.query} were more than about {whole(change.share)} of the calls, "
        f"{change.runner} would be ahead: for it alone, {takes}."
    )


def settled_by(pair: Open, again: Again) -> str:
    """How many blocks would settle an open pair, how long they take, and the command."""
    if pair.blocks > MOST_BLOCKS:
        return (
            f"More than {MOST_BLOCKS:,} blocks would be needed to settle {pair.runner} against "
            f"{pair.reference}."
        )
    minutes = ceil(pair.blocks * (again.block_s or 0) / 60)
    takes = f", which take about {counted(minutes, 'minute')}," if minutes else ""
    command = again_command(again)
    command = f": {command} --blocks {pair.blocks}" if command else ""
    return (
        f"About {pair.blocks} blocks{takes} would settle {pair.runner} against {pair.reference} in "
        f"four of five runs{command}."
    )


def again_command(again: Again) -> str:
    """The command without the number of blocks, or the time, that it asks for."""
    return re.sub(r" --(blocks|time-budget)[ =]\S+", "", again.command)


def whole(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"
