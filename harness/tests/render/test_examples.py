"""The example pages are what the runs kept beside them say today."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis import analyse, load
from sqlitmus.render.html import page as html
from sqlitmus.results.report import Report
from sqlitmus.vocabulary import paths
from tests.render.printing import as_markdown, as_text, data_of, opened

EXAMPLES = Path(__file__).resolve().parents[3] / "reports/example"


# `earlier` has no page of its own: it is merged with `report`
RUNS = sorted(run.name for run in (EXAMPLES / "runs").iterdir() if run.name != "earlier")


@pytest.mark.parametrize("name", RUNS)
def test_an_example_is_its_run_rendered_today(name: str) -> None:
    report = example(name)
    rendered = {"md": as_markdown(report), "html": html.render(report)}
    _, answer, *_ = rendered["md"].split("\n\n")
    assert len(answer.partition(". ")[0].split()) <= 25
    for kind, text in rendered.items():
        stored = (EXAMPLES / f"{name}.{kind}").read_text("utf-8")
        assert plain(text) == plain(stored), "render it again with `./just examples`"


def plain(text: str) -> tuple[str, object]:
    """A page with its folds in place, and its data; Markdown as it is."""
    page = "<html" in text
    return (opened(text), data_of(text)) if page else (text.strip(), None)


@cache
def example(name: str) -> Report:
    return analyse(load(EXAMPLES / "runs" / name))


def brief(name: str, width: int = 100, *, plain: bool = False) -> str:
    return as_text(example(name), width, plain=plain, brief=True)


def test_a_brief_text_golden(snapshot: SnapshotAssertion) -> None:
    for name in RUNS:
        assert brief(name) == snapshot(name=name)
    assert brief("workload", 80, plain=True) == snapshot(name="workload in 80 columns of ASCII")


@pytest.mark.parametrize("name", RUNS)
def test_a_command_ends_with_at_most_40_lines(name: str) -> None:
    for width in (80, 100, 120):
        lines = brief(name, width).splitlines()
        assert len(lines) <= 40
        assert max(map(cell_len, lines)) <= width


def test_a_brief_text_says_of_whom_a_note_is() -> None:
    text = " ".join(brief("advise").split())
    assert "* still warming up: all of them but synchronous: bulk writes large, all of" in text


def test_a_brief_text_names_what_went_wrong(small: Report) -> None:
    whole, short = as_text(small), as_text(small, brief=True)
    problems = whole[whole.index("\nWrong or failed: ") : whole.index("\nNot here\n")]
    assert problems in short
    assert [line for line in whole.splitlines() if " is not here. " in line]
    for line in whole.splitlines():
        assert " is not here. " not in line or line in short


def test_the_readme_shows_how_the_example_ends() -> None:
    fenced = (paths.ROOT / "README.md").read_text("utf-8").split("```")[1::2]
    (shown,) = (text.strip() for text in fenced if "Database time" in text)
    assert shown in brief("report")


def test_those_tied_in_front_are_a_band_each_with_its_interval() -> None:
    page = html.render(example("workload"))
    answer = page.partition('<section id="answer"')[2].partition("</section>")[0]
    rows = re.findall(r'<tr class="tie".*?</tr>', answer, re.DOTALL)
    assert len(rows) == 5
    assert {row.count('class="i"') for row in rows} == {1}


def test_of_chosen_runners_the_report_is_as_if_only_they_had_taken_part() -> None:
    data = load(EXAMPLES / "runs/report")
    whole, two = analyse(data), analyse(data.only(["rust", "bun"]))
    assert [runner.name for runner in two.runners] == ["bun", "rust"]
    assert (two.reference, two.canary, two.floor) == ("bun", None, None)
    for before, after in zip(whole.cases, two.cases, strict=True):
        times = {cell.runner: cell.time for cell in before.cells}
        assert [cell.time for cell in after.cells] == [times["bun"], times["rust"]]
        old, new = (each.comparisons.of("rust", "bun") for each in (before, after))
        assert (old and old.ratio.value) == (new and new.ratio.value)


# Of each example page, and 5 % more; a report may have 300 kB, claims and a service 500.
SIZES = {
    "advise": 187_000,
    "all": 559_000,
    "claims": 500_000,
    "compare-node": 171_000,
    "compare-rust": 172_000,
    "merged": 302_000,
    "report": 253_000,
    "service": 361_000,
    "workload": 190_000,
}


@pytest.mark.parametrize("name", SIZES)
def test_a_page_stays_under_its_size(name: str) -> None:
    assert (EXAMPLES / f"{name}.html").stat().st_size <= SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_the_script_of_an_example_runs_in_chromium(
    name: str, check_page: Callable[..., str]
) -> None:
    parts = ["looks", "axe", "layout"]
    parts += ["interactions"] * (name in ("all", "report", "workload"))
    page = (EXAMPLES / f"{name}.html").read_text("utf-8")
    assert "no problems" in check_page(page, f"--only={','.join(parts)}")
