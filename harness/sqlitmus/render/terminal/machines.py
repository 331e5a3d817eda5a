"""The merged report as text for a terminal: verdict, machines, then what is decided."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import machines as mergedwords
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.matrix import one_line
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results.machines import MergedReport, Row


def render(report: MergedReport, width: int, *, color: bool, plain: bool = False) -> str:
    """The report in `width` columns; `plain` keeps to ASCII symbols."""
    return terminal.printed(parts(report, plain=plain), width, color=color, plain=plain)


def parts(report: MergedReport, *, plain: bool) -> list[RenderableType]:
    """All of it, top to bottom."""
    found: list[RenderableType] = [Text(one_line(report.title), style="bold"), Text()]
    found += [Text(one_line(line)) for line in report.headline]
    found += [Text(f"! {one_line(line)}", style="yellow") for line in mergedwords.absent(report)]
    found += [
        Text(f"! not taken: {one_line(one.path)}: {one_line(one.reason)}", style="yellow")
        for one in report.refused
    ]
    found += [Text(), machines(report)]
    for group in report.groups:
        mine = [row for row in report.rows if row.group == group]
        decided = [row for row in mine if not mergedwords.folded(row)]
        found += [Text(), Text(one_line(group), style="bold")]
        if decided:
            found.append(holds(decided, plain=plain))
        open_ = mergedwords.count(row for row in mine if mergedwords.folded(row))
        if open_:
            found.append(Text(open_, style="dim"))
    legend = ", ".join(
        f"{look.ascii if plain else look.symbol} {word}" for word, look in mergedwords.WORDS.items()
    )
    reading = mergedwords.READING.format(reference=report.reference)
    found += [Text(), Text(legend, style="dim"), Text(one_line(reading), style="dim")]
    found.append(
        Text(f"A machine's own: ./just report results/{one_line(report.run)} --machine NAME")
    )
    return found


def machines(report: MergedReport) -> Table:
    """What the machines are."""
    grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("machine", "kind", "CPU", "blocks", "noise", "missing shards"):
        grid.add_column(name, overflow="fold")
    for one in report.machines:
        cells = (one.name, one.kind, mergedwords.cpus(one), mergedwords.blocks(one))
        rest = (one.grade or "unknown", mergedwords.shards(one))
        grid.add_row(*(Text(one_line(cell)) for cell in (*cells, *rest)))
    return grid


def holds(rows: list[Row], *, plain: bool) -> Table:
    """Decided rows: word, and between which ratios the machines lie."""
    grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    grid.add_column("case", overflow="fold", min_width=20)
    grid.add_column("runner", overflow="fold")
    grid.add_column("ratios", justify="right", overflow="fold")
    grid.add_column("does it hold?", overflow="fold")
    for row in rows:
        look = mergedwords.WORDS[row.word]
        symbol = look.ascii if plain else look.symbol
        beside = f"; {row.beside}" if row.beside else ""
        style = terminal.STYLES[mergedwords.side(row)]
        grid.add_row(
            Text(one_line(row.case)),
            Text(one_line(row.runner)),
            Text(span(row), style=style),
            Text(one_line(f"{symbol} {mergedwords.said(row)}{beside}"), style=style),
        )
    return grid


def span(row: Row) -> str:
    """The smallest and the largest ratio of the machines that count."""
    ratios = [one.ratio for one in row.answers if one.ratio is not None and not one.emulated]
    if not ratios:
        return words.ABSENT.label
    ratios.sort(key=lambda ratio: ratio.value)
    shown = dict.fromkeys(fmt.ratio(ratio)[0] for ratio in (ratios[0], ratios[-1]))
    return " to ".join(shown)
