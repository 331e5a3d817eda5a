"""What the Markdown and the terminal report share: one short text per cell of the matrix."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.html.view import varying_axes
from sqlitmus.results.report import Case, Cell, Comparison, Report


@dataclass(frozen=True, slots=True)
class Entry:
    """`text` says the number or the outcome; `verdict` is None without a comparison."""

    text: str
    bounds: str = ""
    comparison: Comparison | None = None
    outcome: str = "ok"


@dataclass(frozen=True, slots=True)
class Row:
    """A case's name within its group, and one entry per runner, in report
    order."""

    case: Case
    name: str
    entries: list[Entry]


def one_line(text: str) -> str:
    """Untrusted text without control characters, which could drive the terminal."""
    return "".join(c if c.isprintable() or c == fmt.THIN else " " for c in text)


def names(cases: Sequence[Case]) -> list[str]:
    """A short name of each case: its scenario and the axes that vary within that."""
    varying = varying_axes(cases)
    return [
        " ".join([c.scenario, *(f"{a}={c.axes[a]}" for a in varying[c.scenario] if a in c.axes)])
        for c in cases
    ]


def rows(report: Report) -> Iterator[tuple[str, list[Row]]]:
    """All cases by group, in report order."""
    groups: dict[str, list[Row]] = {group: [] for group in report.groups}
    for case, name in zip(report.cases, names(report.cases), strict=True):
        cells = {cell.runner: cell for cell in case.cells}
        against = case.comparisons.against(report.reference)
        entries = [
            entry(cells.get(runner.name), against.get(runner.name)) for runner in report.runners
        ]
        groups.setdefault(case.group, []).append(Row(case, name, entries))
    yield from ((name, found) for name, found in groups.items() if found)


def entry(cell: Cell | None, compared: Comparison | None) -> Entry:
    """One cell: its ratio, or its time where it has no comparison, or its outcome."""
    if cell is None:
        return Entry(words.ABSENT.label, outcome="absent")
    if cell.outcome != "ok" or cell.time is None:
        return Entry(words.OUTCOMES[cell.outcome].label, outcome=cell.outcome)
    if compared is None:
        return Entry(*fmt.time(cell.time))
    return Entry(*fmt.ratio(compared.ratio), compared)


def problems(report: Report) -> Iterator[tuple[str, str, str, str]]:
    """(case, runner, outcome, reason) of every cell that is wrong or failed."""
    for case in report.cases:
        for cell in case.cells:
            if cell.outcome in {"wrong", "failed"}:
                yield case.id, cell.runner, words.OUTCOMES[cell.outcome].label, cell.reason or ""
