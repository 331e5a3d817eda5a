"""What transactions made durable, in every format; nothing in reports of older runs."""

from dataclasses import replace

from sqlitmus.render.html import page as html
from sqlitmus.results.report import Cell, Report
from sqlitmus.vocabulary.detail import Syncs
from tests.render import synthetic
from tests.render.printing import as_markdown, as_text, check_80_columns

WHY = "no C compiler <found>"


def told(cell: Cell) -> Cell:
    """Counted, of a kind that its runner's name decides, or not counted."""
    if cell.runner == "bun":
        return replace(cell, uncounted=WHY)
    calls = {"fdatasync": 40, "fsync": 0} if cell.runner == "python" else {"fsync": 1}
    syncs = Syncs.model_validate({"transactions": 10, "fdatasync": 0, "bytes": 312_960, **calls})
    return replace(cell, syncs=syncs)


def report() -> Report:
    """Counted in its last case alone."""
    whole = synthetic.build(cases=12)
    *others, last = whole.cases
    return replace(whole, cases=[*others, replace(last, cells=list(map(told, last.cells)))])


def test_each_write_case_is_a_row() -> None:
    text = as_markdown(report())
    section = text.partition("## Syncs per transaction\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, row = ([cell.strip(" `_") for cell in line.split("|")] for line in lines)
    of = dict(zip(head, row, strict=True))
    assert of["case"].startswith(report().cases[-1].scenario)
    assert (of["node"], of["bun"], of["python"]) == ("0.1", "not counted", "4")


def test_a_terminal_has_it_in_80_columns() -> None:
    assert "Syncs per transaction" in as_text(report())
    check_80_columns(report())


def test_the_page_says_it_of_the_case() -> None:
    page = html.render(report())
    assert page.count("<h4>Made durable</h4>") == 1
    words = page.partition("<h4>Made durable</h4>")[2].partition("</p>")[0]
    assert "4 fdatasync, 31.3 kB per transaction: python" in words
    assert "not counted: no C compiler &lt;found&gt;: bun;" in words


def test_reports_of_runs_in_which_it_was_not_counted_say_nothing() -> None:
    older = synthetic.build(cases=12)
    for text in (as_markdown(older), as_text(older), html.render(older)):
        assert "Syncs per transaction" not in text
        assert "Made durable" not in text
