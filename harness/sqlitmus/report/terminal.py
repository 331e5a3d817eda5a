"""A report as text for a terminal: verdict, summary, then the matrix in strips that fit the
width."""

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sqlitmus.report import format as fmt
from sqlitmus.report import table, words
from sqlitmus.report.model import Report
from sqlitmus.report.sections import side

STYLES = {"f": "blue", "s": "yellow", "eq": "", "un": "dim"}
NAME_WIDTH = 40
CELL_WIDTH = 13
MIN_CELLS = 2


def render(report: Report, width: int, *, color: bool, plain: bool = False) -> str:
    """The report in `width` columns; `plain` keeps to ASCII symbols for terminals that need it."""
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(renderable(report, width, plain=plain))
    return ascii_only(out.getvalue()) if plain else out.getvalue()


def renderable(report: Report, width: int, *, plain: bool = False) -> RenderableType:
    """The same as a Rich renderable."""
    parts: list[RenderableType] = [Text(one_line(report.title), style="bold"), Text()]
    parts += [Text(one_line(line)) for line in report.headline]
    parts += [Text(f"! {one_line(line)}", style="yellow") for line in report.notices]
    parts += [Text(one_line(report.canary_summary), style="dim"), Text(), summary(report)]
    parts += [Text(), Text(f"Time relative to {report.reference}; below 1 is faster", style="bold")]
    for name, rows in table.rows(report):
        parts += [Text(), Text(one_line(name), style="bold")]
        parts += strips(report, rows, width, plain=plain)
    for runner in report.runners:
        if runner.missing:
            line = one_line(f"{runner.name} is not here. {runner.missing}")
            parts += [Text(), Text(line, style="yellow")]
    problems = list(table.problems(report))
    if problems:
        parts += [Text(), Text("Wrong or failed", style="bold")]
    for case, runner, what, reason in problems:
        line = one_line(f"{runner} in {case}: {what}. {reason}")
        parts.append(Padding(Text(line, style="red"), (0, 0, 0, 2)))
    legend = ", ".join(
        f"{w.ascii if plain else w.symbol} {verdict}" for verdict, w in words.VERDICTS.items()
    )
    parts += [Text(), Text(legend, style="dim"), Text(f"Run again: {one_line(report.rerun)}")]
    return Group(*parts)


def one_line(text: str) -> str:
    """Untrusted text without control characters, which could drive the terminal."""
    return "".join(c if c.isprintable() or c == fmt.THIN else " " for c in text)


def ascii_only(text: str) -> str:
    """ASCII for what this module writes; "?" for any other character."""
    for old, new in (("×", "x"), ("µ", "u"), (fmt.THIN, " "), (fmt.MINUS, "-"), ("–", "-")):
        text = text.replace(old, new)
    return text.encode("ascii", "replace").decode()


def summary(report: Report) -> Table:
    """Geometric means, one row per runner and one column per group."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column("geometric mean")
    for group in report.groups:
        grid.add_column(one_line(group), justify="right")
    found = {(s.runner, s.group): s for s in report.standings if s.reference == report.reference}
    for runner in report.runners:
        mine = [found.get((runner.name, group)) for group in report.groups]
        if not any(mine):
            continue
        cells: list[Text] = []
        for one in mine:
            if one is None or one.ratio is None:
                cells.append(Text("–", style="dim"))
                continue
            cells.append(Text(" ".join(fmt.ratio(one.ratio)), style=STYLES[side(one.ratio)]))
        grid.add_row(Text(one_line(runner.name)), *cells)
    return grid


def strips(
    report: Report, rows: list[table.Row], width: int, *, plain: bool
) -> list[RenderableType]:
    """The matrix of one group, as many runners beside each other as the width holds."""
    longest = max(len(row.name) for row in rows)
    name_width = min(NAME_WIDTH, longest)
    fit = max(MIN_CELLS, (width - name_width) // (CELL_WIDTH + 1))
    found: list[RenderableType] = []
    there = [place for place, runner in enumerate(report.runners) if not runner.missing]
    for start in range(0, len(there), fit):
        chosen = there[start : start + fit]
        if start:
            found.append(Text())
        grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
        grid.add_column("case", width=name_width, overflow="fold")
        for place in chosen:
            name = Text(one_line(report.runners[place].name), justify="right")
            grid.add_column(name, width=CELL_WIDTH, justify="right", overflow="fold")
        for row in rows:
            cells = [cell(row.entries[place], plain=plain) for place in chosen]
            grid.add_row(Text(one_line(row.name)), *cells)
        found.append(grid)
    return found


def cell(entry: table.Entry, *, plain: bool) -> Text:
    """A number with the symbol of its verdict, or an outcome."""
    if entry.comparison is None:
        bad = entry.outcome in {"wrong", "failed"}
        return Text(entry.text, style="red" if bad else "dim")
    word = words.VERDICTS[entry.comparison.verdict]
    symbol = word.ascii if plain else word.symbol
    return Text(f"{entry.text} {symbol}", style=STYLES[word.side])
