"""Rows as CSV, Markdown, Bencher Metric Format and the form of github-action-benchmark."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sqlitmus.export import model
from sqlitmus.export.model import Row, columns
from sqlitmus.render import markdown
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import suite, symbols
from sqlitmus.render.document.comparison import subjects
from sqlitmus.render.document.model import Head
from sqlitmus.render.document.parts import heads
from sqlitmus.render.markdown import code, gfm_row
from sqlitmus.render.markdown import text as gfm_text
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted, one_line, visible

# Full-width forms are formulas in some locales.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")


def render_csv(rows: Iterable[Row]) -> str:
    """The whole file."""
    return _file(columns(), (cells(row) for row in rows))


def of_claims(rows: Iterable[model.ClaimRow]) -> str:
    """The whole file of the rows of claims."""
    return _file(list(model.ClaimRow.model_fields), (cells(row) for row in rows))


def _file(header: list[str], rows: Iterable[list[str | float | None]]) -> str:
    return "".join(f"{line(values)}\n" for values in (header, *rows))


def cells(row: Model) -> list[str | float | None]:
    """One row's values, in the order of the columns."""
    values = dict(row)
    if isinstance(row, Row):
        values["axes"] = axes(row.axes)
    return [text(value) if isinstance(value, str) else value for value in values.values()]


def axes(values: dict[str, str]) -> str:
    """Axes in one column."""
    return ";".join(f"{quote(name)}={quote(value)}" for name, value in values.items())


def text(value: str) -> str:
    """A text that no spreadsheet takes for a formula, and that no terminal obeys."""
    value = visible(value)
    return f"'{value}" if value.startswith(FORMULA) else value


def line(values: Iterable[str | float | None]) -> str:
    """One line without its end."""
    buffer = io.StringIO(newline="")
    # its default line end makes the module quote both a line feed and a carriage return
    csv.writer(buffer).writerow(values)
    return buffer.getvalue().removesuffix("\r\n")


# A GitHub-flavoured table per machine and group: the reference's time, and what the other runners
# are to it. Whole rows only, within a limit of bytes.


# What a job summary holds, with some room for what else is written to it.
LIMIT = markdown.LIMIT - markdown.RESERVE


@dataclass(frozen=True, slots=True)
class Table:
    """A heading with the head of its table, and the table's rows, each as Markdown lines."""

    head: str
    rows: list[str]


def render_markdown(reports: Sequence[tuple[str, Report]], limit: int = LIMIT) -> str:
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
                gfm_row([code(report.cases[int(line.key)].id), *markdown.cells(matrix, line)])
                for line in matrix.rows
            ]
            title = f"### {gfm_text(section.title)} on {gfm_text(name)}\n"
            yield Table(f"{title}\n{markdown.grid(matrix, [])}", lines)


def left_out(count: int, total: int) -> str:
    """What is not here, as a line and the space below it."""
    return f"_Left out for length: {count} of {counted(total, 'row')}; csv and json have all._\n"


def legend() -> str:
    """How to read a cell."""
    return (
        f"{markdown.legend(symbols.verdicts())}. First column: the reference's time; others: time "
        "over it, [95 % interval].\n"
    )


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode())


# Which rows a tool can track that follows one number over commits: those with a time from as many
# blocks as a verdict needs.


def tracked_name(row: Row) -> str:
    """The benchmark's name: machine, case and runner."""
    return f"{row.machine}/{row.case}/{row.runner}"


def tracked_time(row: Row) -> Interval | None:
    """The primary time in ns per unit of work; None where there is none, or from too few blocks."""
    steady = row.metric == "steady"
    column = "steady_ns_per_unit" if steady else figures.named(row.metric).column
    value, low, high = (getattr(row, f"{column}{end}") for end in ("", "_low", "_high"))
    if value is None or row.blocks is None or row.blocks < MIN_BLOCKS:
        return None
    return Interval(value, low, high)


def untracked(rows: Sequence[Row]) -> str:
    """ "2 of 40 cells left out: 1 unsupported, 1 from fewer than 10 blocks"; "" where none is."""
    few = f"from fewer than {MIN_BLOCKS} blocks"
    why = Counter(few if r.outcome == "ok" else r.outcome for r in rows if tracked_time(r) is None)
    if not why:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in why.items())
    return f"{why.total()} of {counted(len(rows), 'cell')} left out: {reasons}"


# The samples of a comparison as Node's benchmark/compare.js writes them, for its compare.R.


COLUMNS = ("binary", "filename", "configuration", "rate", "time")


def render_node_csv(report: Report) -> str:
    """A line per subject, case and block, of the cases that have a time on both sides. Rates are
    units of work per second, times the seconds of one unit. UsageError for a report that is no
    comparison."""
    sides = dict(zip(subjects(report), ("old", "new"), strict=True))
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    for head, case in zip(heads(report.cases), report.cases, strict=True):
        if all(cell.time for cell in case.cells):
            writer.writerows(
                (sides[cell.runner], *named(head), 1e9 / ns, ns / 1e9)
                for cell in case.cells
                for ns in cell.samples
                if ns
            )
    return file.getvalue()


def named(head: Head) -> tuple[str, str]:
    """What Node calls the file and the configuration: there, texts stand in quotes."""
    axes = (axis.partition("=") for axis in head.axes)
    shown = [f"{name}={value if value.isdigit() else inspected(value)}" for name, _, value in axes]
    return one_line(head.name), one_line(" ".join(shown))


def inspected(text: str) -> str:
    """A text as Node's `util.inspect` shows it: in single quotes, unless it holds one."""
    return json.dumps(text) if "'" in text else f"'{text}'"


# Rows as Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format.


def render_bmf(rows: Iterable[Row]) -> str:
    """All rows that can be tracked, by benchmark, then measure."""
    benchmarks = {
        tracked_name(row): measures(row, time) for row in rows if (time := tracked_time(row))
    }
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def measures(row: Row, time: Interval) -> dict[str, dict[str, float]]:
    """The figures that a row has; `time` is its primary one."""
    figures_of_row = {
        "latency": (time.value, time.low, time.high),
        **{
            figure.with_unit.replace("_", "-"): (getattr(row, figure.column), None, None)
            for figure in figures.FIGURES
            if figure.name != row.metric
        },
        "overhead-ns": (
            row.overhead_ns_per_unit,
            row.overhead_ns_per_unit_low,
            row.overhead_ns_per_unit_high,
        ),
    }
    keys = ("value", "lower_value", "upper_value")
    return {
        name: {key: end for key, end in zip(keys, ends, strict=True) if end is not None}
        for name, ends in figures_of_row.items()
        if ends[0] is not None
    }


# Rows for github-action-benchmark, tool `customSmallerIsBetter`: one number per benchmark, the
# primary time.


def render_gha_benchmark(rows: Iterable[Row]) -> str:
    """All rows that can be tracked."""
    benchmarks = [entry(row, time) for row in rows if (time := tracked_time(row))]
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def entry(row: Row, time: Interval) -> dict[str, str | float]:
    """One benchmark: `range` and `extra` are texts that the action shows beside the value."""
    benchmark: dict[str, str | float] = {
        "name": tracked_name(row),
        "unit": f"ns/{row.unit}",
        "value": time.value,
    }
    if time.low is not None and time.high is not None:
        places = fmt.decimals(time.value, time.low, time.high)
        benchmark["range"] = f"95 % {fmt.bounded(time.low, time.high, places)}"
    return {**benchmark, "extra": "\n".join(extra(row))}


def extra(row: Row) -> Iterable[str]:
    """How it compares within this run, and what it comes from."""
    if row.ratio is not None:
        value = " ".join(fmt.ratio(Interval(row.ratio, row.ratio_low, row.ratio_high)))
        yield f"{value.rstrip()} the time of {row.reference}: {row.verdict}"
    blocks = counted(row.blocks or 0, "block")
    if row.detectable is not None:
        blocks += f", finds differences of {fmt.percent(row.detectable)} with 80 % power"
    yield blocks
    parts = [
        (row.runtime, row.runtime_version),
        (row.driver, row.driver_version),
        ("SQLite", row.sqlite_version),
    ]
    yield ", ".join(f"{name} {version or 'of unknown version'}" for name, version in parts)
