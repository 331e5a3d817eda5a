"""All uses beside each other, and what the runners spend on the first."""

from collections.abc import Iterator
from dataclasses import replace

from sqlitmus.render.document import cells
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Section
from sqlitmus.render.document.ranking import ratio
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.render.document.weighed import decision, plural, whole
from sqlitmus.results.ranking import Cost
from sqlitmus.results.weighed import Choice, Weighed

CALLS = (
    "The time of 1,000 requests is a sum: the calls of each operation times what one call takes "
    "here. Put the calls of your own service in their place: what takes most of the time decides."
)


def section(weighed: Weighed | None) -> list[Section]:
    """All presets beside each other, and what the runners spend by the one in front."""
    if weighed is None:
        return []
    first, *rest = weighed.choices
    ranked = [choice for choice in weighed.choices if not choice.lacking]
    columns = [Column(choice.preset, choice.preset) for choice in ranked]
    names = list(dict.fromkeys(c.runner for choice in weighed.choices for c in choice.costs))
    rows = [Row(Head(name), [_spent(choice, name) for choice in ranked], key=name)
            for name in names]  # fmt: skip
    costs = Table(
        "costs",
        RUNNER,
        [
            *(Column(case, plural(weighed.names[case])) for case in first.calls),
            Column("cpu", "CPU time"),
            Column("memory", "peak memory"),
            Column("start", "start to first answer"),
        ],
        [
            Row(
                Head(each.runner),
                [
                    *(_part(each, case) for case in first.calls),
                    Cell("\u2013" if each.cpu is None else fmt.duration(each.cpu)),
                    Cell("\u2013" if each.memory is None else fmt.size(each.memory)),
                    Cell("\u2013" if each.start is None else fmt.duration(each.start)),
                ],
                key=each.runner,
            )
            for each in first.costs
        ],
    )
    table = Table("presets", RUNNER, columns, rows, title="Time of 1,000 requests, by preset")
    parts = Section("costs", f"What 1,000 requests of {first.preset} consist of", blocks=[costs])
    lead = [*_lead(weighed, rest)]
    below = [parts] if costs.rows else []
    return [Section("presets", "For which use", lead, [table], below)]


def _part(of: Cost, case: str) -> Cell:
    if of.time is None or case not in of.parts:
        return cells.NONE
    share = of.parts[case]
    return Cell(fmt.duration(of.time.value * share), note=f"{whole(share)} %")


def _lead(weighed: Weighed, rest: list[Choice]) -> Iterator[str]:
    yield CALLS
    yield (
        "All that is told apart here is told so at once, for every preset and one further set of "
        "calls: the chance that anything of it is false is 5 % at most."
    )
    yield from (decision(choice, weighed.names) for choice in rest)


def _spent(choice: Choice, name: str) -> Cell:
    """A runner's time of 1,000 requests, with its ratio to the first one's."""
    cost = next((cost for cost in choice.costs if cost.runner == name), None)
    if cost is None or cost.time is None:
        return cells.NONE
    time = fmt.duration(cost.time.value)
    order = choice.ranking
    if contrast := order.contrast(name):
        compared = cells.compared(contrast.ratio, contrast.verdict)
        return replace(compared, text=time, bounds=ratio(contrast.ratio))
    if any(excluded.runner == name for excluded in order.excluded):
        return Cell(time, note="beyond a limit", emphasis="aside")
    tied = name in order.front[1:]
    return Cell(time, note="not told apart" if tied else "")
