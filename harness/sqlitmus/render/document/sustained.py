"""Sustained rates as a document."""

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.cells import NONE
from sqlitmus.render.document.model import Block, Code, Document, Section
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.results.sustained import Sustained, Sustaining
from sqlitmus.vocabulary.nouns import counted


def build(result: Sustaining, rerun: str) -> Document:
    """A row for each runner, the highest rate first."""
    ranked = sorted(result.runners, key=lambda each: -(each.rate.value if each.rate else -1))
    columns = [
        Column("rate", "operations a second"),
        Column("cpu", "CPU s a million"),
        Column("blocks", "blocks"),
        Column("rest", "besides", "text"),
    ]
    rows = [Row(Head(each.runner), _row(each), key=each.runner) for each in ranked]
    lead = (
        f"{100 * result.reads:g} % of the operations are reads, the others inserts of a writer "
        "beside them. Brackets are 95 % intervals over blocks; planned rates are "
        f"{100 * (result.factor - 1):.0f} % apart."
    )
    table = Table("sustained", RUNNER, columns, rows)
    foot: list[Block] = [Code(rerun, "Run again")]
    what = (
        f"99 % of operations take at most {fmt.duration(result.limit_ns)}, counted from their "
        "planned starts"
    )
    return Document(
        title="Sustained rates",
        headline=[f"The highest planned rate at which {what}."],
        facts=[("", counted(len(rows), "runner"))],
        notices=[],
        trust=[],
        sections=[Section("sustained", "Rates", [lead], [table])],
        foot=foot,
        whole="",
    )


def _row(each: Sustained) -> list[Cell]:
    blocks = Cell(str(each.blocks), value=each.blocks)
    if each.outcome != "ok":
        return [Cell(each.outcome, style="na", emphasis="aside"), NONE, blocks, Cell(each.reason)]
    return [_rate(each), _cpu(each), blocks, Cell(_rest(each))]


def _rate(each: Sustained) -> Cell:
    if each.rate is None:
        return Cell("the machine was late", emphasis="aside")
    text, bounds = fmt.rate(each.rate)
    return Cell(" ".join(filter(None, (each.bound, text))), bounds, value=each.rate)


def _cpu(each: Sustained) -> Cell:
    if each.cpu_s is None:
        return NONE
    value, low, high = each.cpu_s.value, each.cpu_s.low, each.cpu_s.high
    places = fmt.decimals(value, low, high)
    bounds = "" if low is None or high is None else fmt.bounded(low, high, places)
    return Cell(fmt.fixed(value, places), bounds, value=each.cpu_s)


def _rest(each: Sustained) -> str:
    parts: list[str] = []
    if each.void:
        parts.append(
            f"the machine was late in {each.void} of {counted(each.probes, 'probe')}, typically by "
            f"{fmt.duration(each.late_ns)}"
        )
    if each.lost:
        parts.append(f"{counted(each.lost, 'block')} told nothing")
    return "; ".join(parts)
