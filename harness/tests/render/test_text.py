"""Reports on a terminal, as Markdown and as JSON."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from sqlitmus.results import machines as data
from tests.render import synthetic
from tests.render.printing import (
    MergedReport,
    as_markdown,
    as_text,
    build,
    check_80_columns,
    check_gfm,
    markdown,
    poisoned,
)
from tests.render.synthetic import Broken, Group, Ranking, Report


def test_terminal_golden(snapshot: SnapshotAssertion) -> None:
    report = synthetic.build(cases=6, blocks=8, runners=4)
    assert as_text(report) == snapshot


def test_comparison_golden(ab: Report, snapshot: SnapshotAssertion) -> None:
    assert as_text(ab) == snapshot(name="terminal")


def test_a_comparison_without_a_change_says_so(ab: Report) -> None:
    names = [runner.name for runner in ab.runners]
    pairs = [(case, case.comparisons.of(*names)) for case in ab.cases]
    same = [case for case, pair in pairs if pair and not pair.verdict.different]
    text = build(replace(ab, cases=same)).headline[0]
    assert text == f"Of {len(same)} cases: {len(same)} not resolved."


def test_a_suite_without_a_decision_says_who_leads_most_groups(small: Report) -> None:
    def first(*fronts: list[str], group: str = "0", metric: str = "steady") -> str:
        groups = [Group(group if n == 0 else str(n), 2, Ranking(f)) for n, f in enumerate(fronts)]
        cases = [replace(case, metric=metric, group=group) for case in small.cases]
        failed = Broken("bun", "failed", ["a"], 2)
        document = build(replace(small, cases=cases, headline=[failed, *groups]))
        assert document.notices[0].text.startswith("bun failed in 1 of 2 cases")
        return document.headline[0]

    assert first(["rust", "bun"], ["rust"], ["bun"], ["rust", "deno"]) == (
        "rust is fastest or tied for it in 3 of 4 groups; bun in 2."
    )
    assert first(["a", "b", "c", "d"], ["d", "c", "b", "a"]) == (
        "a and 3 others are fastest or tied for it in 2 of 2 groups."
    )
    assert "groups" not in first(["rust"])
    assert first(["a", "b"], ["b"], group="latency", metric="p99") == (
        "Under load a and b are tied for the lowest p99; b is fastest or tied for it in 2 of 2 "
        "groups."
    )


def test_all_rows_are_shown_on_request(ab: Report) -> None:
    folded = next(build(ab).tables()).folded
    assert folded is not None
    assert folded.rows
    brief = as_markdown(ab), as_text(ab, 200)
    whole = as_markdown(ab, all_rows=True), as_text(ab, 200, all_rows=True)
    for text in brief:
        assert f"{len(folded.rows)} not resolved" in text
        assert "? not resolved  " not in text
    for row in folded.rows:
        name = re.escape(row.head.text)
        assert re.search(rf"^\| `{name}` \|.*\? not resolved.*\|$", whole[0], re.MULTILINE)
        assert re.search(rf"^{name} .*\? not resolved", whole[1], re.MULTILINE)


def test_data_is_neither_markup_nor_drives_a_terminal(each: Report | MergedReport) -> None:
    check_gfm(as_markdown(each))
    hostile = poisoned(each)
    text = as_markdown(hostile, all_rows=True)
    assert "alert" in text
    check_gfm(text)
    assert "\x1b" not in as_text(hostile, 100)


def test_a_comment_golden(snapshot: SnapshotAssertion) -> None:
    report = synthetic.build_compare(cases=5, blocks=12)
    assert markdown.comment(build(report)) == snapshot


def lines_of_tables(text: str) -> int:
    """How many lines of figures the tables of a text have, without heads and rules."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return len(lines) - 2 * sum(set(line) <= set("|-: ") for line in lines)


@pytest.mark.parametrize("cases", [300, 1500])
def test_a_comment_fits_and_counts_the_rows_that_it_leaves_out(
    cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = build(synthetic.build_compare(cases=cases, blocks=3))
    text = markdown.comment(document)
    assert len(text) <= 65_536
    assert text.startswith(f"### node\\@26.10.0 against node\\@24.11.0 in {cases:,} cases: ")
    (missing,) = re.findall(r"Left out for length: ([\d,]+) rows\\?\. ", text)
    monkeypatch.setattr(markdown, "COMMENT", 10**9)
    whole = markdown.comment(document)
    assert lines_of_tables(text) + int(missing.replace(",", "")) == lines_of_tables(whole)
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("width", [60, 120])
def test_terminal_keeps_to_its_width(small: Report, ab: Report, width: int) -> None:
    for report in (small, ab, poisoned(ab)):
        lines = as_text(report, width, all_rows=True).splitlines()
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("all_rows", [False, True])
def test_80_columns_hold_every_id_whole(each: Report | MergedReport, all_rows: bool) -> None:
    check_80_columns(each, all_rows=all_rows)


def test_a_terminal_says_why_a_time_is_not_there(small: Report) -> None:
    text = as_text(small, 200)
    assert "dotnet is not here. missing: .NET SDK 10 not found" in text
    for word in ("unsupported", "wrong answer", "failed", "Wrong or failed", "not installed"):
        assert word in text


def test_a_terminal_has_colours_or_nothing_but_ascii(
    small: Report, ab: Report, claimed: Report
) -> None:
    for report in (small, ab):
        assert "\x1b[34m" in as_text(report, 100, color=True)
        plain = as_text(report, 100, plain=True)
        # "?" stands for not resolved, and for what ASCII cannot say: nothing of ours.
        assert plain.isascii()
        assert not re.search(r"\w\?|\?\w", plain)
    with_claims = as_text(claimed, 150, plain=True)
    assert with_claims.isascii()
    assert "999 ns -> 502 ns" in with_claims


def test_a_single_case_has_no_mean(small: Report) -> None:
    single = [replace(one, cases=1 + (one.group != "reads")) for one in small.standings]
    head = re.compile("^runner +start-up +reads", re.MULTILINE)
    assert head.search(as_text(small, 200))
    assert not head.search(as_text(replace(small, standings=single), 200))


def test_the_foot_says_that_nothing_was_corrected_and_that_the_self_test_failed(
    ab: Report,
) -> None:
    failed = replace(synthetic.SELFTEST, passed=False)
    text = as_text(replace(ab, correction="none", selftest=failed), 200)
    assert "Verdicts are not corrected" in text
    assert "2026-01-01 10:00:00 UTC: FAILED. Two identical" in text


def test_json_comes_back_as_it_was(small: Report, ab: Report, claimed: Report) -> None:
    for report in (small, ab, claimed):
        assert data.load(data.render(report)) == report
