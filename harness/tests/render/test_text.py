import re
from dataclasses import replace

import pytest
from pydantic import ValidationError
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document import comparison as changes
from sqlitmus.render.markdown import page as markdown
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results import summary as data
from sqlitmus.results.report import Noise, Report, SelfTest
from tests.render import synthetic

HOSTILE = "a|b `c` <img src=x> *d* @team\n# head \x1b[31m"


def hostile(report: Report) -> Report:
    case = report.cases[0]
    cells = [replace(c, outcome="failed", reason=HOSTILE, time=None) for c in case.cells]
    pairs = case.comparisons
    without = replace(pairs, verdict=[None for _ in pairs.verdict])
    bad = replace(case, id=HOSTILE, scenario=HOSTILE, cells=cells, comparisons=without)
    fine = replace(report.cases[-1], scenario=HOSTILE)
    return replace(
        report,
        title=HOSTILE,
        headline=[HOSTILE],
        notices=[HOSTILE],
        cases=[bad, fine],
        rerun=HOSTILE,
        noise=Noise("C", HOSTILE, HOSTILE),
        selftest=SelfTest(HOSTILE, [HOSTILE], passed=False),
    )


def test_markdown_golden(snapshot: SnapshotAssertion) -> None:
    assert markdown.render(synthetic.build(cases=6, blocks=8, runners=4)) == snapshot


def test_terminal_golden(snapshot: SnapshotAssertion) -> None:
    report = synthetic.build(cases=6, blocks=8, runners=4)
    assert terminal.render(report, 80, color=False) == snapshot


def test_comparison_golden(ab: Report, snapshot: SnapshotAssertion) -> None:
    assert terminal.render(ab, 110, color=False) == snapshot(name="terminal")
    assert markdown.render(ab) == snapshot(name="markdown")


def test_all_rows_are_shown_on_request(ab: Report) -> None:
    folded = changes.tables(ab)[0].folded
    assert folded
    for text in (markdown.render(ab), terminal.render(ab, 200, color=False)):
        assert f"{len(folded)} not resolved" in text
        assert "? not resolved  " not in text
    for row in folded:
        whole = terminal.render(ab, 200, color=False, all_rows=True)
        assert re.search(rf"^{re.escape(row.name)} .*\? not resolved", whole, re.MULTILINE)
        line = markdown.change_line(row)
        assert f"| {' | '.join(line)} |" in markdown.render(ab, all_rows=True)


def test_markdown_tables_keep_their_columns(small: Report, ab: Report) -> None:
    for report in (small, hostile(small), ab, hostile(ab)):
        width = None
        for line in markdown.render(report).splitlines():
            if not line.startswith("|"):
                width = None
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert width in (None, cells), line
            width = cells


@pytest.mark.parametrize("kind", ["small", "ab"])
def test_markdown_reads_no_markup_from_data(kind: str, request: pytest.FixtureRequest) -> None:
    text = markdown.render(hostile(request.getfixturevalue(kind)))
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<img", outside_code)
    assert not re.search(r"(?<!\\)@team", outside_code)
    assert "\n# head" not in text


def test_markdown_says_what_it_leaves_out(small: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "LIMIT", 4000)
    text = markdown.render(small)
    assert len(text.encode()) <= 4000
    assert re.search(r"Left out for length: \d+ part", text)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_terminal_keeps_to_its_width(small: Report, ab: Report, width: int) -> None:
    for report in (small, ab, hostile(ab)):
        text = terminal.render(report, width, color=False, all_rows=True)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert "\x1b" not in text


def test_terminal_colour_and_plain(small: Report, ab: Report) -> None:
    for report in (small, ab):
        assert "\x1b[34m" in terminal.render(report, 100, color=True)
        plain = terminal.render(report, 100, color=False, plain=True)
        # "?" stands for not resolved, and for what ASCII cannot say: nothing of ours.
        assert plain.isascii()
        assert not re.search(r"\w\?|\?\w", plain)


def test_terminal_is_not_driven_by_data(small: Report, ab: Report) -> None:
    for report in (small, ab):
        assert "\x1b" not in terminal.render(hostile(report), 100, color=False)


def test_every_cell_appears_in_the_terminal(small: Report) -> None:
    text = terminal.render(small, 200, color=False)
    assert "dotnet is not here. missing: .NET SDK 10 not found" in text
    for word in ("unsupported", "wrong answer", "failed", "Wrong or failed"):
        assert word in text


def test_json_comes_back_as_it_was(small: Report, ab: Report) -> None:
    for report in (small, ab):
        assert data.load(data.render(report)) == report


def test_bad_json_names_the_place(small: Report) -> None:
    broken = data.render(small).replace('"outcome": "ok"', '"outcome": "fine"', 1)
    with pytest.raises(ValidationError, match=r"cases\.0\.cells\.0\.outcome"):
        data.load(broken)
