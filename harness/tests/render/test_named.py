"""Cells by name: scripts and styles find a cell wherever its column stands."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.render.html import assets, page
from sqlitmus.render.html import page as html
from sqlitmus.results.machines import Answer, MergedReport, Row
from sqlitmus.results.report import Interval, Measure, Report
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.claims.claim_runs import make
from tests.render import synthetic

ANSWER = Answer(Interval(0.8, 0.7, 0.9), Verdict.MATERIALLY_FASTER)
ROW = Row(
    "get-pk", "get-pk", "One row", "reads", {}, "bun", "on one machine only",
    Verdict.MATERIALLY_FASTER, "on one machine only", "", [ANSWER], [],
)  # fmt: skip
MERGED = MergedReport(
    1, "Merged", "run", "2026-01-01", "0.1.0", "node", [], [], [], [], ["reads"], [ROW]
)
# Each kind of cell that a script writes into, and the column that a test puts before it.
BEFORE = {
    "time": r'(<t[hd][^>]* data-f="time">)',
    "matrix": r'(<t[hd][^>]* data-r="0"[^>]*>)',
    "summary": r'(<td[^>]* data-f="tally">)',
}


def asked() -> set[str]:
    """The names that scripts and style sheets look up."""
    names = {figure.name for figure in FIGURES}
    for path in (assets.REPORTS / "assets").iterdir():
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"""\[data-f=["'](\w+)["']\]""", text))
        for parts in re.findall(r"const \{([^}]*)\} = named\(", text):
            # `ratio: against` takes the cell "ratio"; `...figures` takes the others.
            names |= {part.split(":")[0].strip() for part in parts.split(",") if "..." not in part}
    return names


def test_cells_have_the_names_that_are_asked_for(small: Report, ab: Report) -> None:
    loaded = synthetic.build(cases=1, blocks=10)
    case = loaded.cases[0]
    measured = {figure.name: Measure(1e6) for figure in FIGURES}
    case = replace(case, cells=[replace(cell, figures=measured) for cell in case.cells])
    reports = (small, ab, replace(loaded, cases=[case]), analyse(make()))
    pages = [html.render(report) for report in reports]
    pages.append(page.render_merged(MERGED, []))
    text = "".join(pages)
    # A document's own tables name all their columns.
    worked = re.findall(r'<table (?!class="doc").*?</table>', text, flags=re.DOTALL)
    assert set(re.findall(r'data-f="([^"]*)"', "".join(worked))) <= asked()
    assert asked() <= set(re.findall(r'data-f="([^"]*)"', text))


@pytest.mark.parametrize("script", ["cases", "matrix", "summary", "visible", "merged", "main"])
def test_no_script_finds_a_cell_by_its_place(script: str) -> None:
    text = assets.asset(f"{script}.js")
    assert not re.search(r"\.cells\[|cellIndex|rowIndex|= row\.cells|nth-child", text)


def test_a_further_column_breaks_nothing(check_page: Callable[..., str]) -> None:
    text = html.render(synthetic.build(cases=3, blocks=8, runners=3))
    for pattern in BEFORE.values():
        text, count = re.subn(pattern, r'<td class="further"></td>\1', text)
        assert count
    printed = check_page(text, "--only=interactions")
    assert "ok   repainting the default view gives the text that was rendered" in printed
    assert "no problems" in printed
