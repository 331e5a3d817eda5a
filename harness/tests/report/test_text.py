import re
from dataclasses import replace

import pytest
from pydantic import ValidationError
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from sqlitmus.report import data, markdown, terminal
from sqlitmus.report.model import Report
from tests.report import synthetic

HOSTILE = "a|b `c` <img src=x> *d* @team\n# head \x1b[31m"


def hostile(report: Report) -> Report:
    case = report.cases[0]
    cells = [replace(c, outcome="failed", reason=HOSTILE, time=None) for c in case.cells]
    bad = replace(case, id=HOSTILE, scenario=HOSTILE, cells=cells)
    return replace(
        report, title=HOSTILE, headline=[HOSTILE], notices=[HOSTILE], cases=[bad], rerun=HOSTILE
    )


def test_markdown_golden(snapshot: SnapshotAssertion) -> None:
    assert markdown.render(synthetic.build(cases=6, blocks=8, runners=4)) == snapshot


def test_terminal_golden(snapshot: SnapshotAssertion) -> None:
    report = synthetic.build(cases=6, blocks=8, runners=4)
    assert terminal.render(report, 80, color=False) == snapshot


def test_markdown_tables_keep_their_columns(small: Report) -> None:
    for report in (small, hostile(small)):
        width = None
        for line in markdown.render(report).splitlines():
            if not line.startswith("|"):
                width = None
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert width in (None, cells), line
            width = cells


def test_markdown_reads_no_markup_from_data(small: Report) -> None:
    text = markdown.render(hostile(small))
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
def test_terminal_keeps_to_its_width(small: Report, width: int) -> None:
    text = terminal.render(small, width, color=False)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text


def test_terminal_colour_and_plain(small: Report) -> None:
    assert "\x1b[34m" in terminal.render(small, 100, color=True)
    terminal.render(small, 100, color=False, plain=True).encode("ascii")


def test_terminal_is_not_driven_by_data(small: Report) -> None:
    assert "\x1b" not in terminal.render(hostile(small), 100, color=False)


def test_every_cell_appears_in_the_terminal(small: Report) -> None:
    text = terminal.render(small, 200, color=False)
    assert "dotnet is not here. missing: .NET SDK 10 not found" in text
    for word in ("unsupported", "wrong answer", "failed", "Wrong or failed"):
        assert word in text


def test_json_comes_back_as_it_was(small: Report) -> None:
    assert data.load(data.render(small)) == small


def test_bad_json_names_the_place(small: Report) -> None:
    broken = data.render(small).replace('"outcome": "ok"', '"outcome": "fine"', 1)
    with pytest.raises(ValidationError, match=r"cases\.0\.cells\.0\.outcome"):
        data.load(broken)
