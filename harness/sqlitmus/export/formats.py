"""Reports become rows, as `model` says, and rows CSV, Markdown, Bencher Metric Format and the form
of github-action-benchmark.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from typing import TypeVar, cast
from urllib.parse import quote

from sqlitmus import __version__
from sqlitmus.export import model as out
from sqlitmus.render import markdown
from sqlitmus.render.document import decision, format as fmt, sentences, suite, symbols
from sqlitmus.render.document.comparison import subjects
from sqlitmus.render.document.model import Head
from sqlitmus.render.document.parts import headed
from sqlitmus.results.ranking import Interval
from sqlitmus.results.recommendation import Advice, Choice, Recommendation as Decided, Weighed
from sqlitmus.results.report import Report
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted, one_line, visible

M = TypeVar("M", bound=Model)


def export_of(reports: Sequence[tuple[str, Report]]) -> out.Export:
    """All machines and their rows; `reports` are machines by name."""
    return out.export_model()(
        schema_version=1,
        sqlitmus=__version__,
        machines=[
            _read(
                out.Machine, report, name=name, notices=list(map(sentences.notice, report.notices))
            )
            for name, report in reports
        ],
        rows=[row for name, report in reports for row in rows(name, report)],
        claims=[row for name, report in reports for row in _claims(name, report)],
        recommendations=[row for name, report in reports for row in _decisions(name, report)],
        settings=[row for name, report in reports for row in _settings(name, report)],
    )


def rows(machine: str, report: Report) -> Iterator[out.Row]:
    """One row per cell, cases and runners in the order of the report."""
    identities = {runner.name: runner for runner in report.runners}
    for case in report.cases:
        against = case.comparisons.against(report.reference)
        for cell in case.cells:
            values = {name: Interval(each.value, None, None) for name, each in cell.figures.items()}
            syncs = cell.syncs
            durable = {
                f"{name}_per_transaction": syncs and getattr(syncs, name) / syncs.transactions
                for name in ("fsync", "fdatasync", "bytes")
            }
            yield _read(
                out.row_model(),
                cell,
                machine=machine,
                report=report,
                case=case,
                identity=identities[cell.runner],
                compared=against.get(cell.runner),
                values={**values, case.metric: cell.time},
                blocks=cell.time and sum(value is not None for value in cell.samples),
                overhead_verdict=cell.overhead and cell.overhead_verdict,
                **durable,
            )


def _claims(machine: str, report: Report) -> Iterator[out.ClaimRow]:
    for claim in report.claims:
        for group in claim.groups:
            of = {"machine": machine, "report": report, "claim": claim, "group": group}
            yield from (_read(out.ClaimRow, row, **of) for row in group.rows)


def _settings(machine: str, report: Report) -> Iterator[out.SettingRow]:
    for advice in report.headline:
        if isinstance(advice, Advice):
            for setting in advice.settings:
                of = {"machine": machine, "report": report, "advice": advice, "setting": setting}
                for tried in setting.tried:
                    blocks = tried.contrast.blocks if tried.contrast else 0
                    yield _read(out.SettingRow, tried, blocks=blocks, **of)


def _decisions(machine: str, report: Report) -> Iterator[out.Recommendation]:
    of = {"machine": machine, "report": report}
    for statement in report.headline:
        if isinstance(statement, Weighed):
            for choice in statement.choices:
                text = " ".join(decision.choice_sentences(choice, statement))
                yield _read(out.Recommendation, choice, costs=_costs(choice, 1.0), text=text, **of)
        elif isinstance(statement, Decided):
            yield _read(
                out.Recommendation,
                statement,
                preset=None,
                calls={query: 1000 * share for query, share in statement.shares.items()},
                costs=_costs(statement, 1000.0),
                text=" ".join(decision.workload_sentences(statement)),
                **of,
            )


def _costs(of: Choice | Decided, times: float) -> list[out.Cost]:
    """What 1,000 requests or calls take with each runner; `times` makes them of what is known."""
    return [
        _read(
            out.Cost,
            cost,
            contrast=of.ranking.contrast(cost.runner),
            time_ms=cost.time and cost.time.value * times / 1e6,
            cpu_ms=None if cost.cpu is None else cost.cpu * times / 1e6,
        )
        for cost in of.costs
    ]


def _read(model: type[M], part: object, **given: object) -> M:
    """An object of the model, whose fields are read of what is `given`, or else of a part of the
    results; None where a part of a field's path is."""
    return model.model_validate(
        {
            name: reduce(_step, path, given[start] if start in given else getattr(part, start))
            for name, (start, *path) in _paths(model).items()
        }
    )


@cache
def _paths(model: type[Model]) -> dict[str, list[str]]:
    """Where each field is read."""
    return {
        name: next((text for text in field.metadata if isinstance(text, str)), name).split(".")
        for name, field in model.model_fields.items()
    }


def _step(value: object, name: str) -> object:
    """What an object has by an attribute, a dictionary by a key, or a tuple at a place."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value).get(name)
    if isinstance(value, tuple):
        return cast("tuple[object, ...]", value)[int(name)]
    return None if value is None else getattr(value, name)


# Full-width forms are formulas in some locales.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")


def render_csv(model: type[Model], rows: Iterable[Model]) -> str:
    """The whole file: the model's fields, and a line per row."""
    return "".join(map(_line, ([*model.model_fields], *map(_values, rows))))


def _values(row: Model) -> list[str | float | None]:
    """One row's values, in the order of the columns; axes are one."""
    values = dict(row)
    if isinstance(row, out.Row):
        axes = (f"{quote(name)}={quote(value)}" for name, value in row.axes.items())
        values["axes"] = ";".join(axes)
    return [_text(value) if isinstance(value, str) else value for value in values.values()]


def _text(value: str) -> str:
    """A text that no spreadsheet takes for a formula, and that no terminal obeys."""
    value = visible(value)
    return f"'{value}" if value.startswith(FORMULA) else value


def _line(values: Iterable[str | float | None]) -> str:
    buffer = io.StringIO(newline="")
    # its default line end makes the module quote both a line feed and a carriage return
    csv.writer(buffer).writerow(values)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


# A GitHub-flavoured table per machine and group: the reference's time, and what the other runners
# are to it.

# What a job summary holds, with some room for what else is written to it.
LIMIT = markdown.LIMIT - markdown.RESERVE


def render_markdown(reports: Sequence[tuple[str, Report]], limit: int = LIMIT) -> str:
    """All tables, at most `limit` bytes of them: rows that do not fit are left out, the last ones
    first, and their number is told. Raises UsageError when not even that fits."""
    lines = [line for name, report in reports for line in _lines(name, report)]
    legend = (
        f"{markdown.legend(symbols.verdicts())}. First column: the reference's time; others: time "
        "over it, [95 % interval].\n"
    )
    room = limit - _size(_left_out(len(lines), len(lines)), legend) + 1
    if room < 0:
        raise UsageError(f"--limit {limit}: not even the legend fits; give at least {limit - room}")
    parts: list[str] = []
    missing = len(lines)
    last = ""
    for head, line in lines:
        added = [line] if head is last else ["", head, line]
        room -= _size(*added)
        if room < 0:
            break
        parts += added
        missing -= 1
        last = head
    note = [_left_out(missing, len(lines))] if missing else []
    return "\n".join([*parts, "", *note, legend]).removeprefix("\n")


def _lines(name: str, report: Report) -> Iterator[tuple[str, str]]:
    """One machine's rows by group, the reference's column first; each with the head of its table,
    the same object for all rows of one."""
    for section in suite.matrix(report).sections:
        for table in section.tables():
            title = f"### {markdown.text(section.title)} on {markdown.text(name)}\n"
            head = f"{title}\n{markdown.grid(table, [])}"
            for row in table.rows:
                case = markdown.code(report.cases[int(row.key)].id)
                yield head, markdown.gfm_row([case, *markdown.cells(table, row)])


def _left_out(count: int, total: int) -> str:
    """What is not here, as a line and the space below it."""
    return f"_Left out for length: {count} of {counted(total, 'row')}; csv and json have all._\n"


def _size(*lines: str) -> int:
    """Bytes of UTF-8, with the end of each line."""
    return sum(len(line.encode()) + 1 for line in lines)


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
    for case, head in headed(report.cases):
        if all(cell.time for cell in case.cells):
            writer.writerows(
                (sides[cell.runner], *_named(head), 1e9 / ns, ns / 1e9)
                for cell in case.cells
                for ns in cell.samples
                if ns
            )
    return file.getvalue()


def _named(head: Head) -> tuple[str, str]:
    """What Node calls the file and the configuration: there, texts stand as `util.inspect` shows
    them, in single quotes unless they hold one."""
    shown: list[str] = []
    for name, _, value in (axis.partition("=") for axis in head.axes):
        quoted = json.dumps(value) if "'" in value else f"'{value}'"
        shown.append(f"{name}={value if value.isdigit() else quoted}")
    return one_line(head.name), one_line(" ".join(shown))


# Which rows a tool can track that follows one number over commits: those with a time from as many
# blocks as a verdict needs.


def _interval(row: out.Row, column: str) -> Interval | None:
    """A figure of a row, with its ends where they have columns."""
    value, low, high = (getattr(row, f"{column}{end}", None) for end in ("", "_low", "_high"))
    return None if value is None else Interval(value, low, high)


def _time(row: out.Row) -> Interval | None:
    """The primary time in ns per unit of work; None where there is none, or from too few blocks."""
    steady = row.metric == "steady"
    column = "steady_ns_per_unit" if steady else figures.named(row.metric).column
    return _interval(row, column) if row.blocks and row.blocks >= MIN_BLOCKS else None


def _name(row: out.Row) -> str:
    return f"{row.machine}/{row.case}/{row.runner}"


def untracked(rows: Sequence[out.Row]) -> str:
    """ "2 of 40 cells left out: 1 unsupported, 1 from fewer than 10 blocks"; "" where none is."""
    few = f"from fewer than {MIN_BLOCKS} blocks"
    why = Counter(few if row.outcome == "ok" else row.outcome for row in rows if not _time(row))
    if not why:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in why.items())
    return f"{why.total()} of {counted(len(rows), 'cell')} left out: {reasons}"


# Rows as Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format.


def render_bmf(rows: Iterable[out.Row]) -> str:
    """All rows that can be tracked, by benchmark, then measure."""
    benchmarks = {_name(row): _measures(row, time) for row in rows if (time := _time(row))}
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def _measures(row: out.Row, time: Interval) -> dict[str, dict[str, float]]:
    """The figures that a row has; `time` is its primary one."""
    measures = {
        "latency": time,
        **{
            figure.with_unit.replace("_", "-"): _interval(row, figure.column)
            for figure in figures.FIGURES
            if figure.name != row.metric
        },
        "overhead-ns": _interval(row, "overhead_ns_per_unit"),
    }
    ends = {"value": "value", "lower_value": "low", "upper_value": "high"}
    return {
        name: {
            key: number
            for key, end in ends.items()
            if (number := getattr(measure, end)) is not None
        }
        for name, measure in measures.items()
        if measure
    }


# Rows for github-action-benchmark, tool `customSmallerIsBetter`: one number per benchmark, the
# primary time.


def render_gha_benchmark(rows: Iterable[out.Row]) -> str:
    """All rows that can be tracked."""
    benchmarks = [_benchmark(row, time) for row in rows if (time := _time(row))]
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def _benchmark(row: out.Row, time: Interval) -> dict[str, str | float]:
    """`range` and `extra` are texts that the action shows beside the value."""
    benchmark = {"name": _name(row), "unit": f"ns/{row.unit}", "value": time.value}
    if bounds := fmt.rounded(time.value, time.low, time.high)[1]:
        benchmark["range"] = f"95 % {bounds}"
    return {**benchmark, "extra": "\n".join(_extra(row))}


def _extra(row: out.Row) -> Iterable[str]:
    """How it compares within this run, and what it comes from."""
    if ratio := _interval(row, "ratio"):
        value = " ".join(fmt.ratio(ratio))
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
