"""The example pages are what the runs kept beside them say today, and work in a browser."""

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from tests.analysis.runs import analyse, load
from tests.known import ROOT
from tests.render.printing import as_markdown, as_text, data_of, opened, page_of
from tests.render.synthetic import Report

EXAMPLES = ROOT / "reports/example"
# Each page with its most bytes, which are 5 % more than it has. `merged` is of two runs, `earlier`
# one of them.
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
RUNS = [name for name in SIZES if name != "merged"]


def example(name: str) -> Report:
    """What analysis makes of a run that is kept."""
    return analyse(load(EXAMPLES / "runs" / name))


def test_each_run_that_is_kept_has_its_page() -> None:
    assert sorted([*RUNS, "earlier"]) == sorted(run.name for run in (EXAMPLES / "runs").iterdir())


@pytest.mark.parametrize("name", RUNS)
def test_an_example_is_its_run_rendered_today(name: str, snapshot: SnapshotAssertion) -> None:
    report = example(name)
    told = "render it again with `./just examples`"
    text, page = as_markdown(report), page_of(report)
    _, answer, *_ = text.split("\n\n")
    assert len(answer.partition(". ")[0].split()) <= 25
    assert text.strip() == (EXAMPLES / f"{name}.md").read_text("utf-8").strip(), told
    stored = (EXAMPLES / f"{name}.html").read_text("utf-8")
    assert opened(page) == opened(stored), told
    assert data_of(page) == data_of(stored), told
    assert len(stored.encode()) <= SIZES[name]
    assert as_text(report, 100, brief=True) == snapshot(name="at its end")
    assert as_text(report, 80, brief=True, plain=True) == snapshot(name="80 columns of ASCII")
    for width in (80, 100, 120):
        lines = as_text(report, width, brief=True).splitlines()
        assert len(lines) <= 40
        assert max(map(cell_len, lines)) <= width


def test_a_brief_text_names_what_went_wrong(small: Report) -> None:
    whole, short = as_text(small), as_text(small, brief=True)
    problems = whole[whole.index("\nWrong or failed: ") : whole.index("\nNot here\n")]
    assert problems in short
    absent = [line for line in whole.splitlines() if " is not here. " in line]
    assert absent
    assert set(absent) <= {*short.splitlines()}


def test_the_readme_shows_how_the_example_ends() -> None:
    fenced = (ROOT / "README.md").read_text("utf-8").split("```")[1::2]
    (shown,) = (text.strip() for text in fenced if "Database time" in text)
    assert shown in as_text(example("report"), 100, brief=True)


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
