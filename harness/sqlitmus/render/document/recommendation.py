"""The recommendation of a workload: sentences for the first screen, and tables beside them."""

from collections.abc import Iterator

from sqlitmus.render.document import cells
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Cell, Column, Head, Row, Section, Table
from sqlitmus.render.document.order import ratio
from sqlitmus.results.recommendation import Beyond, Change, Recommendation, Standby
from sqlitmus.vocabulary.nouns import counted, listed

_AGREE = 0.10
_LIMITS = {"memory": "memory", "start-up": "time from start to first answer"}


def sentences(said: Recommendation) -> list[str]:
    """What the first screen says, a sentence or two each."""
    return [
        " ".join(part)
        for part in (list(_decision(said)), list(_left_out(said)), list(_would(said)))
        if part
    ]


def _decision(said: Recommendation) -> Iterator[str]:
    mix = listed([f"{_whole(share)} {query}" for query, share in said.shares.items()])
    at = counted(said.workers, "worker")
    yield f"For this workload ({mix}; {at}):"
    if not said.front:
        yield "nobody is recommended: no runner answers all of it within its limits."
        return
    if len(said.front) == 1:
        yield f"{said.front[0]} takes the least time."
    elif said.alike:
        yield f"{listed(said.front)} are equivalent, and nobody is faster."
    else:
        yield f"{listed(said.front)} are not told apart, and nobody is shown to be faster."
    if said.others:
        first = said.others[0]
        rest = [f"{other.runner} {ratio(other.ratio)}" for other in said.others[1:]]
        taken = listed([f"{first.runner} takes {ratio(first.ratio)}", *rest])
        yield f"{taken} as long as {said.front[0]}."


def _left_out(said: Recommendation) -> Iterator[str]:
    for over in said.beyond:
        yield f"{over.runner} is left out: its {_LIMITS[over.limit]} is {_amount(over)}."
    if said.absent:
        yield f"{listed(said.absent)} did not answer the whole mix."


def _amount(over: Beyond) -> str:
    write = fmt.size if over.limit == "memory" else fmt.duration
    return f"{write(over.value)}, the limit {write(over.most)}"


def _would(said: Recommendation) -> Iterator[str]:
    for change in said.changes:
        yield would(change, said.front[0])


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


def section(said: Recommendation | None) -> list[Section]:
    """What each candidate costs, and whether the mix is the sum of its parts."""
    if said is None:
        return []
    columns = [
        Column("time", "time a query"),
        Column("ratio", "over the first"),
        Column("cpu", "CPU a million queries"),
        Column("memory", "peak memory"),
        Column("start", "start to first answer"),
        Column("parts", "mix over its parts", wide=True),
    ]
    composed = {each.runner: each.ratio for each in said.composed}
    others = {other.runner: other for other in said.others}
    rows: list[Row] = []
    for each in sorted(said.beside, key=lambda each: each.time.value if each.time else 0):
        name = each.runner
        text, bounds = fmt.time(each.time) if each.time else ("–", "")
        parts = fmt.ratio(composed[name]) if name in composed else ("–", "")
        rows.append(
            Row(
                Head(name),
                [
                    Cell(text, bounds),
                    _over(said, others.get(name), name),
                    Cell("–" if each.cpu is None else fmt.duration(each.cpu * 1e6)),
                    Cell(fmt.size(each.memory)),
                    Cell(fmt.duration(each.start)),
                    Cell(*parts),
                ],
                key=name,
            )
        )
    table = Table("recommendation", Column("runner", "runner", "id"), columns, rows)
    return [Section("recommendation", "For this workload", [*_lead(said)], [table])]


def _over(said: Recommendation, other: Standby | None, name: str) -> Cell:
    if other:
        return cells.compared(other.ratio, other.verdict)
    if said.front and name == said.front[0]:
        return Cell("1")
    return Cell("not told apart" if name in said.front else "beyond a limit", emphasis="aside")


def _lead(said: Recommendation) -> Iterator[str]:
    yield (
        f"Decided by {said.case}, over {counted(said.blocks, 'block')}. All that is told apart "
        "here is told so at once: the chance that anything of it is false is 5 % at most."
    )
    kept = said.database
    yield (
        f"{kept.name}: {fmt.size(kept.bytes)} in {counted(kept.tables, 'table')}, pages of "
        f"{kept.page_size} bytes, {kept.encoding}, journal mode {kept.journal_mode} (each run sets "
        f"its profile's), user_version {kept.user_version}, schema {kept.schema_hash}."
    )
    apart = [c for c in said.composed if not _agrees(c.ratio.value)]
    if not said.composed:
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
