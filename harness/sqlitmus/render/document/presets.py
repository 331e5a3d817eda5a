"""All uses beside each other, and what the runners cost by the first."""

from collections.abc import Iterator

from sqlitmus.render.document import cells
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.model import Section
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.render.document.weighed import decision
from sqlitmus.results.sustained import Sustained
from sqlitmus.results.weighed import Choice, Weighed

WEIGHTS = (
    "The figure is a geometric mean of ratios of time, in which a group counts by its weight and "
    "its cases count alike: a weight says how much a group matters, and is no share of calls. "
    "Choose weights by your service, not by what they lead to."
)


def section(weighed: Weighed | None) -> list[Section]:
    """All presets beside each other, and what the runners cost by the one in front."""
    if weighed is None:
        return []
    first, *rest = weighed.choices
    columns = [
        Column(choice.preset, choice.preset) for choice in weighed.choices if not choice.lacking
    ]
    names = list(dict.fromkeys(c.runner for choice in weighed.choices for c in choice.beside))
    rows = [
        Row(Head(name), [_over(choice, name) for choice in weighed.choices if not choice.lacking],
            key=name)
        for name in names
    ]  # fmt: skip
    rates = {s.runner: s for s in (weighed.sustaining.runners if weighed.sustaining else ())}
    costs = Table(
        "costs",
        RUNNER,
        [
            Column("cpu", "CPU a million operations"),
            Column("memory", "peak memory"),
            Column("start", "start to first answer"),
            *([Column("rate", "sustains, a second")] if rates else []),
        ],
        [
            Row(
                Head(each.runner),
                [
                    Cell("–" if each.cpu is None else fmt.duration(each.cpu * 1e6)),
                    Cell("–" if each.memory is None else fmt.size(each.memory)),
                    Cell("–" if each.start is None else fmt.duration(each.start)),
                    *([_rate(rates.get(each.runner))] if rates else []),
                ],
                key=each.runner,
            )
            for each in first.beside
        ],
        title=f"Cost by {first.preset}",
    )
    tables = [Table("presets", RUNNER, columns, rows, title="Time over the first, by preset")]
    return [
        Section(
            "presets", "For which use", [*_lead(rest)], [*tables, *([costs] if costs.rows else [])]
        )
    ]


def _rate(of: Sustained | None) -> Cell:
    if of is None or of.rate is None:
        return cells.NONE
    text, bounds = fmt.rate(of.rate)
    return Cell(" ".join(filter(None, [of.bound, text])), bounds)


def _lead(rest: list[Choice]) -> Iterator[str]:
    yield WEIGHTS
    yield (
        "All that is told apart here is told so at once, for every preset and one further set of "
        "weights: the chance that anything of it is false is 5 % at most."
    )
    yield from map(decision, rest)


def _over(choice: Choice, name: str) -> Cell:
    other = next((other for other in choice.others if other.runner == name), None)
    if other:
        return cells.compared(other.ratio, other.verdict)
    if name in choice.front:
        return Cell("1" if choice.front[0] == name else "not told apart", emphasis="")
    if any(over.runner == name for over in choice.beyond):
        return Cell("beyond a limit", emphasis="aside")
    return cells.NONE
