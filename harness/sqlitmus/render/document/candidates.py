"""Whom a workload can be given to: what each costs, and whether the mix is the sum of its parts."""

from collections.abc import Iterator

from sqlitmus.render.document import cells
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Section
from sqlitmus.render.document.ranking import ratio
from sqlitmus.render.document.recommendation import at, whole
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.vocabulary.nouns import counted, listed

_AGREE = 0.10


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
        *(Column(each.case, f"p99 of a round{at(each)}") for each in advice.latencies),
    ]
    composed = {each.runner: each.ratio for each in advice.composed}
    rows: list[Row] = []
    for each in sorted(advice.costs, key=lambda each: each.time.value if each.time else 0):
        name = each.runner
        text, bounds = fmt.time(each.time) if each.time else ("–", "")
        parts = fmt.ratio(composed[name]) if name in composed else ("–", "")
        rows.append(
            Row(
                Head(name),
                [
                    Cell(text, bounds),
                    _over(advice, name),
                    Cell("–" if each.cpu is None else fmt.duration(each.cpu * 1e6)),
                    Cell(fmt.size(each.memory)),
                    Cell(fmt.duration(each.start)),
                    Cell(*parts),
                    *(_p99(each.p99.get(name)) for each in advice.latencies),
                ],
                key=name,
            )
        )
    table = Table("recommendation", RUNNER, columns, rows)
    return [Section("recommendation", "For this workload", [*_lead(advice)], [table])]


def _over(advice: Recommendation, name: str) -> Cell:
    order = advice.ranking
    contrast = order.contrast(name)
    if contrast:
        return cells.compared(contrast.ratio, contrast.verdict)
    if name in order.front[:1]:
        return Cell("1")
    return Cell("not told apart" if name in order.front else "beyond a limit", emphasis="aside")


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
            f"{whole(_AGREE)} for every runner."
        )
    else:
        which = listed([f"{each.runner} {ratio(each.ratio)}" for each in apart])
        yield (
            f"Measured as one process, the mix does not take what its parts add up to: {which}. "
            "Queries then meet another state of the caches and of the compiler than alone; go by "
            "the mix."
        )


def _agrees(value: float) -> bool:
    return 1 / (1 + _AGREE) <= value <= 1 + _AGREE
