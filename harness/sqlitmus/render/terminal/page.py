"""A report as text for a terminal: verdict, summary, then the matrix in strips that fit the
width."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sqlitmus.render.document import (
    claims as claimwords,
)
from sqlitmus.render.document import (
    comparison as changes,
)
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import (
    matrix as table,
)
from sqlitmus.render.document import (
    symbols as words,
)
from sqlitmus.render.document.matrix import one_line
from sqlitmus.render.html.sections import side
from sqlitmus.render.terminal import claims as claimterminal
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

STYLES = {"f": "blue", "s": "yellow", "eq": "", "un": "dim"}
NAME_WIDTH = 40
CELL_WIDTH = 13
MIN_CELLS = 2
CASE_WIDTH = 20
ASCII = {
    "×": "x",
    "µ": "u",
    fmt.THIN: " ",
    fmt.MINUS: "-",
    "\u2013": "-",
    "\u00b7": ".",
    "\u2192": "->",
    "\N{GREEK CAPITAL LETTER DELTA}": "change",
}


def render(
    report: Report, width: int, *, color: bool, plain: bool = False, all_rows: bool = False
) -> str:
    """The report in `width` columns; `plain` keeps to ASCII symbols for terminals that need it.

    Of an A/B comparison the rows without a difference are named in one line, unless `all_rows`.
    """
    shown = renderable(report, width, plain=plain, all_rows=all_rows)
    return printed([shown], width, color=color, plain=plain)


def printed(parts: Iterable[RenderableType], width: int, *, color: bool, plain: bool) -> str:
    """Rich renderables as text."""
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
    console.print(Group(*parts))
    return ascii_only(out.getvalue()) if plain else out.getvalue()


def renderable(
    report: Report, width: int, *, plain: bool = False, all_rows: bool = False
) -> RenderableType:
    """The same as a Rich renderable."""
    parts: list[RenderableType] = [Text(one_line(report.title), style="bold"), Text()]
    parts += [Text(one_line(line)) for line in report.headline]
    parts += [Text(f"! {one_line(line)}", style="yellow") for line in report.notices]
    trust = [report.noise.summary, report.noise.consequence, report.canary_summary]
    parts += [Text(one_line(line), style="dim") for line in trust if line]
    if report.kind == "compare":
        parts += changed(report, plain=plain, all_rows=all_rows)
    elif report.kind == "claims":
        parts += claimterminal.parts(report, plain=plain, all_rows=all_rows)
    else:
        parts += [Text(), summary(report)]
        heading = f"Time relative to {report.reference}; below 1 is faster"
        parts += [Text(), Text(heading, style="bold")]
        for name, rows in table.rows(report):
            parts += [Text(), Text(one_line(name), style="bold")]
            parts += strips(report, rows, width, plain=plain)
    parts += missing(report)
    parts += problems(report)
    legend = ", ".join(f"{v.ascii if plain else v.symbol} {v}" for v in Verdict)
    correction = words.correction(report)
    if report.kind == "claims":
        legend, correction = claimwords.reading(plain=plain), claimwords.correction(report)
    parts += [Text(), Text(legend, style="dim"), Text(correction, style="dim")]
    parts.append(Text(one_line(" ".join(words.selftest(report))), style="dim"))
    parts.append(Text(f"Run again: {one_line(report.rerun)}"))
    return Group(*parts)


def missing(report: Report) -> list[RenderableType]:
    """Runners that are not on this machine, and the hint."""
    parts: list[RenderableType] = []
    for runner in report.runners:
        if runner.missing:
            line = one_line(f"{runner.name} is not here. {runner.missing}")
            parts += [Text(), Text(line, style="yellow")]
    return parts


def problems(report: Report) -> list[RenderableType]:
    """Wrong and failed cells with their reasons."""
    found = list(table.problems(report))
    parts: list[RenderableType] = [Text(), Text("Wrong or failed", style="bold")] if found else []
    for case, runner, what, reason in found:
        line = one_line(f"{runner} in {case}: {what}. {reason}")
        parts.append(Padding(Text(line, style="red"), (0, 0, 0, 2)))
    return parts


def changed(report: Report, *, plain: bool, all_rows: bool) -> list[RenderableType]:
    """An A/B comparison: a table per figure, what is folded, the geometric means."""
    base, new = changes.subjects(report)
    parts: list[RenderableType] = [Text(), Text(one_line(f"base {base}, new {new}"))]
    for found in changes.tables(report):
        parts += [Text(), Text(found.title, style="bold")]
        rows = found.rows + found.folded if all_rows else found.rows
        if rows:
            grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
            grid.add_column("case", overflow="fold", min_width=CASE_WIDTH)
            for name in ("base", "new", "\N{GREEK CAPITAL LETTER DELTA} [95 %]"):
                grid.add_column(name, justify="right", overflow="fold")
            grid.add_column("verdict", overflow="fold")
            if rows[0].blocks is not None:
                grid.add_column("blocks", justify="right")
            for row in rows:
                grid.add_row(*change_cells(row, plain=plain)[: len(grid.columns)])
            parts.append(grid)
        if found.folded and not all_rows:
            names = ", ".join(one_line(row.name) for row in found.folded)
            parts.append(Text(f"{found.count()}: {names}", style="dim"))
    means = changes.means(report)
    if means:
        parts += [Text(), Text("Geometric means", style="bold")]
    for mean in means:
        line = f"{mean.group} ({counted(mean.cases, 'case')}): {mean.change} {mean.bounds}"
        parts.append(Text(one_line(line.rstrip())))
    return parts


def change_cells(row: changes.Row, *, plain: bool) -> list[Text]:
    """One row of an A/B comparison."""
    if row.verdict is None:
        style = "red" if changes.rank(row)[0] < 0 else "dim"
        shown = (row.name, row.base, row.new, row.change, row.said, "")
        return [Text(one_line(text), style=style) for text in shown]
    symbol, style = row.verdict.ascii if plain else row.verdict.symbol, STYLES[row.verdict.style]
    blocks = "" if row.blocks is None else str(row.blocks)
    return [
        Text(one_line(row.name)),
        Text(row.base),
        Text(row.new),
        Text(f"{row.change} {row.bounds}".rstrip(), style=style),
        Text(f"{symbol} {row.said}", style=style),
        Text(blocks),
    ]


def ascii_only(text: str) -> str:
    """ASCII for what this module writes; "?" for any other character."""
    for old, new in ASCII.items():
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
    verdict = entry.comparison.verdict
    symbol = verdict.ascii if plain else verdict.symbol
    return Text(f"{entry.text} {symbol}", style=STYLES[verdict.style])
