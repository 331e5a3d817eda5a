"""The recommendation of a workload: sentences for the first screen, and tables beside them."""

import re
from collections.abc import Iterator
from math import ceil

from sqlitmus.render.document import cells
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Section
from sqlitmus.render.document.order import ratio
from sqlitmus.render.document.table import Cell, Column, Head, Row, Table
from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import (
    Again,
    Beyond,
    Change,
    Latency,
    Open,
    Recommendation,
    Standby,
)
from sqlitmus.vocabulary.nouns import counted, listed

_AGREE = 0.10
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
    mix = listed([f"{_whole(share)} {query}" for query, share in advice.shares.items()])
    at = counted(advice.workers, "worker")
    yield f"For this workload ({mix}; {at}):"
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
    if over.limit == "stalls":
        return (
            f"{over.runner} is left out, for it stalls: its mean iteration takes "
            f"{over.value or 0:,.3g} times as long as its median one, which is all that a "
            "comparison sees."
        )
    if over.limit == "rate" and over.value is not None and over.most is not None:
        rate, least = (fmt.rate(Interval(v, None, None))[0] for v in (over.value, over.most))
        return f"{over.runner} is left out: it sustains {rate}, and has to sustain {least}."
    at = _at(timed) if timed else ""
    return f"{over.runner} is left out: its {_LIMITS[over.limit]}{at} is {_amount(over)}."


def _at(latency: Latency) -> str:
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
        f"If {change.query} were more than about {_whole(change.share)} of the queries, "
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


def section(advice: Recommendation | None) -> list[Section]:
    """What each candidate costs, and whether the mix is the sum of its parts."""
    if advice is None:
        return []
    columns = [
        Column("time", "time a query"),
        Column("ratio", "over the first"),
        Column("cpu", "CPU a million queries"),
        Column("memory", "peak memory"),
        Column("start", "start to first answer"),
        Column("parts", "mix over its parts", wide=True),
        *(Column(each.case, f"p99 of a round{_at(each)}") for each in advice.latencies),
    ]
    composed = {each.runner: each.ratio for each in advice.composed}
    others = {other.runner: other for other in advice.others}
    rows: list[Row] = []
    for each in sorted(advice.beside, key=lambda each: each.time.value if each.time else 0):
        name = each.runner
        text, bounds = fmt.time(each.time) if each.time else ("–", "")
        parts = fmt.ratio(composed[name]) if name in composed else ("–", "")
        rows.append(
            Row(
                Head(name),
                [
                    Cell(text, bounds),
                    _over(advice, others.get(name), name),
                    Cell("–" if each.cpu is None else fmt.duration(each.cpu * 1e6)),
                    Cell(fmt.size(each.memory)),
                    Cell(fmt.duration(each.start)),
                    Cell(*parts),
                    *(_p99(each.p99.get(name)) for each in advice.latencies),
                ],
                key=name,
            )
        )
    table = Table("recommendation", Column("runner", "runner", "id"), columns, rows)
    return [Section("recommendation", "For this workload", [*_lead(advice)], [table])]


def _over(advice: Recommendation, other: Standby | None, name: str) -> Cell:
    if other:
        return cells.compared(other.ratio, other.verdict)
    if advice.front and name == advice.front[0]:
        return Cell("1")
    return Cell("not told apart" if name in advice.front else "beyond a limit", emphasis="aside")


def _p99(p99: Interval | None) -> Cell:
    return Cell(*fmt.time(p99)) if p99 else Cell("–")


def _lead(advice: Recommendation) -> Iterator[str]:
    yield (
        f"Decided by {advice.case}, over {counted(advice.blocks, 'block')}. All that is told apart "
        "here is told so at once: the chance that anything of it is false is 5 % at most."
    )
    file = advice.database
    yield (
        f"{file.name}: {fmt.size(file.bytes)} in {counted(file.tables, 'table')}, pages of "
        f"{file.page_size} bytes, {file.encoding}, journal mode {file.journal_mode} (each run sets "
        f"its profile's), user_version {file.user_version}, schema {file.schema_hash}."
    )
    for latency in advice.latencies[:1]:
        yield (
            f"A round of the mix is {counted(latency.queries, 'query', 'queries')}, one after the "
            "other: where 99 % of the rounds take no longer than the p99, so do 99 % of the "
            "queries at least. It is the median of the processes', one a block, with its interval."
        )
        if latency.rate is not None:
            yield (
                "At a rate, rounds start at planned times, and latency counts from these: a runner "
                "that does not keep up has ever later rounds."
            )
    apart = [c for c in advice.composed if not _agrees(c.ratio.value)]
    if not advice.composed:
        return
    if not apart:
        yield (
            "Measured as one process, the mix takes what its parts add up to, within "
            f"{_whole(_AGREE)} for every runner."
        )
    else:
        which = listed([f"{each.runner} {ratio(each.ratio)}" for each in apart])
        yield (
            f"Measured as one process, the mix does not take what its parts add up to: {which}. "
            "Queries then meet another state of the caches and of the compiler than alone; go by "
            "the mix."
        )


def _whole(share: float) -> str:
    return f"{100 * share:.0f} %"


def _agrees(value: float) -> bool:
    return 1 / (1 + _AGREE) <= value <= 1 + _AGREE
