"""Pages in Chromium: what `./just check-report` does.

Each kind of page is checked whole once. What draws another page of its kind was seen by then: of
that, what its own tables and pictures can spoil is checked.
"""

import re
from collections.abc import Callable

import pytest

from tests.known import ROOT
from tests.render import synthetic
from tests.render.printing import MergedReport, page, page_of
from tests.render.synthetic import Report

EXAMPLES = {
    "report": "looks,interactions,axe,layout",
    "service": "axe,layout",
    "workload": "axe,layout",
    "advise": "axe,layout",
    "all": "layout",
    "compare-node": "layout",
    "claims": "layout",
    "merged": "layout",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_works(name: str, check_page: Callable[..., str]) -> None:
    text = (ROOT / f"reports/example/{name}.html").read_text("utf-8")
    assert "no problems" in check_page(text, f"--only={EXAMPLES[name]}")


def test_a_comparison_and_claims_work_with_every_verdict(
    ab: Report, claimed: Report, check_page: Callable[..., str]
) -> None:
    for report in (ab, claimed):
        assert "no problems" in check_page(page_of(report))


def test_a_merged_page_works(
    made: tuple[MergedReport, list[bytes]], check_page: Callable[..., str]
) -> None:
    found = check_page(page.render_merged(*made))
    assert "no problems" in found
    assert "links within a machine's page stay in it" in found


def test_a_long_matrix_works_with_every_outcome(check_page: Callable[..., str]) -> None:
    text = page_of(synthetic.build(cases=42, runners=6, blocks=8))
    assert "no problems" in check_page(text, "--only=interactions,axe")


def test_a_further_column_breaks_nothing(check_page: Callable[..., str]) -> None:
    text = page_of(synthetic.build(cases=3, blocks=8, runners=3))
    # before each cell that a script writes into
    text, count = re.subn(r"(<t[hd][^>]* data-r=\"?0)", r'<td class="further"></td>\1', text)
    assert count
    printed = check_page(text, "--only=interactions")
    assert "ok   repainting the default view gives the text that was rendered" in printed
    assert "no problems" in printed
