import re
from dataclasses import replace

import pytest
from pydantic import ValidationError
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render import markdown
from sqlitmus.render.document import comparison
from sqlitmus.render.document.build import build
from sqlitmus.results import machines as data
from sqlitmus.results.ranking import Ranking
from sqlitmus.results.report import Broken, Group, Report
from sqlitmus.vocabulary.errors import UsageError
from tests.render import synthetic
from tests.render.printing import as_markdown, as_text, check_80_columns, check_gfm, poisoned


def test_terminal_golden(snapshot: SnapshotAssertion) -> None:
    report = synthetic.build(cases=6, blocks=8, runners=4)
    assert as_text(report) == snapshot


def test_comparison_golden(ab: Report, snapshot: SnapshotAssertion) -> None:
    assert as_text(ab) == snapshot(name="terminal")


def test_a_comparison_without_a_change_says_so(ab: Report) -> None:
    base, new = comparison.subjects(ab)
    same = [case for case in ab.cases
            if (pair := case.comparisons.of(new, base)) and not pair.verdict.different]  # fmt: skip
    text = build(replace(ab, cases=same)).headline[0]
    assert text == f"Of {len(same)} cases: {len(same)} not resolved."


def test_a_suite_without_a_decision_says_who_leads_most_groups(small: Report) -> None:
    def first(*fronts: list[str]) -> str:
        groups = [Group(str(n), 2, Ranking(front)) for n, front in enumerate(fronts)]
        failed = Broken("bun", "failed", ["a"], 2)
        document = build(replace(small, headline=[failed, *groups]))
        assert document.notices[0].text.startswith("bun failed in 1 of 2 cases")
        return document.headline[0]

    assert first(["rust", "bun"], ["rust"], ["bun"], ["rust", "deno"]) == (
        "rust is fastest or tied for it in 3 of 4 groups; bun in 2."
    )
    assert first(["a", "b", "c", "d"], ["d", "c", "b", "a"]) == (
        "a and 3 others are fastest or tied for it in 2 of 2 groups."
    )
    assert "groups" not in first(["rust"])


def test_a_service_says_first_who_has_the_lowest_p99(small: Report) -> None:
    cases = [replace(case, metric="p99", group="latency") for case in small.cases]
    groups = [Group("latency", 2, Ranking(["a", "b"])), Group("bulk", 2, Ranking(["b"]))]
    loaded = build(replace(small, cases=cases, headline=list(groups)))
    assert loaded.headline[0] == (
        "Under load a and b are tied for the lowest p99; b is fastest or tied for it in 2 of 2 "
        "groups."
    )


def test_a_suite_is_no_comparison(small: Report) -> None:
    with pytest.raises(UsageError, match=r"holds 10 runners; make one with `\./just compare"):
        comparison.build(small)


def test_all_rows_are_shown_on_request(ab: Report) -> None:
    folded = next(build(ab).tables()).folded
    assert folded is not None
    assert folded.rows
    for text in (as_markdown(ab), as_text(ab, 200)):
        assert f"{len(folded.rows)} not resolved" in text
        assert "? not resolved  " not in text
    for row in folded.rows:
        name = re.escape(row.head.text)
        whole = as_text(ab, 200, all_rows=True)
        assert re.search(rf"^{name} .*\? not resolved", whole, re.MULTILINE)
        assert re.search(
            rf"^\| `{name}` \|.*\? not resolved.*\|$", as_markdown(ab, all_rows=True), re.MULTILINE
        )


@pytest.mark.parametrize("kind", ["small", "ab", "claimed", "long", "merged"])
def test_data_is_neither_markup_nor_drives_a_terminal(
    kind: str, request: pytest.FixtureRequest
) -> None:
    report = request.getfixturevalue(kind)
    check_gfm(as_markdown(report))
    text = as_markdown(poisoned(report), all_rows=True)
    assert "alert" in text
    check_gfm(text)
    assert "\x1b" not in as_text(poisoned(report), 100)


def test_markdown_says_what_it_leaves_out(small: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "LIMIT", 4000)
    text = as_markdown(small)
    assert len(text.encode()) <= 4000
    assert re.search(r"Left out for length: \d+ rows\\?\. ", text)


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


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_terminal_keeps_to_its_width(small: Report, ab: Report, width: int) -> None:
    for report in (small, ab, poisoned(ab)):
        text = as_text(report, width, all_rows=True)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert "\x1b" not in text


@pytest.mark.parametrize("kind", ["small", "ab", "claimed", "long", "merged"])
@pytest.mark.parametrize("all_rows", [False, True])
def test_80_columns_hold_every_id_whole(
    kind: str, request: pytest.FixtureRequest, all_rows: bool
) -> None:
    check_80_columns(request.getfixturevalue(kind), all_rows=all_rows)


def test_runners_are_rows_and_every_cell_is_there(small: Report) -> None:
    text = as_text(small)
    for runner in small.runners:
        rows = re.findall(rf"^{re.escape(runner.name)}  .*$", text, re.MULTILINE)
        times = [
            c for case in small.cases for c in case.cells if c.runner == runner.name and c.time
        ]
        assert len(rows) > 3 or runner.missing
        assert sum(len(re.findall(r"\d[ \u202f](?:ns|µs|ms)|\d×", row)) for row in rows) >= len(
            times
        )


def test_terminal_colour_and_plain(small: Report, ab: Report) -> None:
    for report in (small, ab):
        assert "\x1b[34m" in as_text(report, 100, color=True)
        plain = as_text(report, 100, plain=True)
        # "?" stands for not resolved, and for what ASCII cannot say: nothing of ours.
        assert plain.isascii()
        assert not re.search(r"\w\?|\?\w", plain)


def test_every_cell_appears_in_the_terminal(small: Report) -> None:
    text = as_text(small, 200)
    assert "dotnet: not installed" in text
    assert "dotnet is not here. missing: .NET SDK 10 not found" in text
    for word in ("unsupported", "wrong answer", "failed", "Wrong or failed"):
        assert word in text


def test_json_comes_back_as_it_was(small: Report, ab: Report, claimed: Report) -> None:
    for report in (small, ab, claimed):
        assert data.load(data.render(report)) == report


def test_bad_json_names_the_place(small: Report) -> None:
    broken = data.render(small).replace('"outcome": "ok"', '"outcome": "fine"', 1)
    with pytest.raises(ValidationError, match=r"cases\.0\.cells\.0\.outcome"):
        data.load(broken)
