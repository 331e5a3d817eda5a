"""A GitHub-flavoured table per machine and group: the reference's time, and what the other runners
are to it. Whole rows only, within a limit of bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlitmus.render.document import cells, suite
from sqlitmus.render.markdown import page as markdown
from sqlitmus.render.markdown.gfm import code, row, text
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import counted

# What a job summary holds, with some room for what else is written to it.
LIMIT = markdown.LIMIT - markdown.RESERVE


@dataclass(frozen=True, slots=True)
class Table:
    """A heading with the head of its table, and the table's rows, each as Markdown lines."""

    head: str
    rows: list[str]


def render(reports: Sequence[tuple[str, Report]], limit: int = LIMIT) -> str:
    """All tables, at most `limit` bytes of them: rows that do not fit are left out, the last ones
    first, and their number is told. Raises UsageError when not even that fits."""
    found = [one for name, report in reports for one in tables(name, report)]
    total = sum(len(one.rows) for one in found)
    room = limit - size(f"{left_out(total, total)}\n{legend()}")
    if room < 0:
        raise UsageError(f"--limit {limit}: not even the legend fits; give at least {limit - room}")
    parts: list[str] = []
    kept = 0
    for one in found:
        rows, room = fitting(one, room)
        if rows:
            parts += [one.head, *rows, ""]
        kept += len(rows)
        if len(rows) < len(one.rows):
            parts.append(left_out(total - kept, total))
            break
    return "\n".join([*parts, legend()])


def fitting(table: Table, room: int) -> tuple[list[str], int]:
    """The first rows that fit below their head, and the room that is left."""
    room -= size(table.head) + 2
    kept: list[str] = []
    for line in table.rows:
        if size(line) >= room:
            break
        room -= size(line) + 1
        kept.append(line)
    return kept, room


def tables(name: str, report: Report) -> Iterator[Table]:
    """One machine's tables, by group; the reference's column first."""
    for section in suite.matrix(report).sections:
        for matrix in section.tables():
            lines = [
                row([code(report.cases[int(line.key)].id), *markdown.cells(matrix, line)])
                for line in matrix.rows
            ]
            title = f"### {text(section.title)} on {text(name)}\n"
            yield Table(f"{title}\n{markdown.grid(matrix, [])}", lines)


def left_out(count: int, total: int) -> str:
    """What is not here, as a line and the space below it."""
    return f"_Left out for length: {count} of {counted(total, 'row')}; csv and json have all._\n"


def legend() -> str:
    """How to read a cell."""
    return (
        f"{markdown.legend(cells.verdicts())}. First column: the reference's time; others: time "
        "over it, [95 % interval].\n"
    )


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode())
