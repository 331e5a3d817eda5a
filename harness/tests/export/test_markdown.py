import re
from dataclasses import replace

import pytest

from sqlitmus.export import formats
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError
from tests.render import synthetic
from tests.render.test_text import hostile


@pytest.fixture(scope="module")
def reports() -> list[tuple[str, Report]]:
    """Two machines."""
    return [("linux-x64", synthetic.build(cases=14)), ("macos-arm64", synthetic.build(cases=6))]


def lines(text: str) -> list[str]:
    """The rows of all tables, without their heads."""
    found = [line for line in text.splitlines() if line.startswith("| `")]
    return [line for line in found if not line.startswith("| case")]


def test_a_table_per_group_and_machine_with_every_case(reports: list[tuple[str, Report]]) -> None:
    text = formats.render_markdown(reports)
    heads = re.findall(r"^### (.+)$", text, re.MULTILINE)
    wanted = [
        f"{group} on {name}"
        for name, report in reports
        for group in dict.fromkeys(case.group for case in report.cases)
    ]
    assert heads == wanted
    cases = [case.id for _, report in reports for case in report.cases]
    assert [line.split("`")[1] for line in lines(text)] == cases
    assert "Left out" not in text


def test_the_reference_comes_first_and_shows_its_time(reports: list[tuple[str, Report]]) -> None:
    name, report = reports[0]
    table = next(formats.tables(name, replace(report, reference="bun")))
    assert table.head.splitlines()[2].startswith("| case | `bun` | `node` |")
    assert re.match(r"\| `[^`]+` \| [\d.]+\u202fms \| ▼ \*\*1\.", table.rows[0])
    other = next(formats.tables(name, synthetic.build_compare()))
    assert other.head.splitlines()[2] == "| case | `node@24.11.0` | `node@26.10.0` |"


def test_tables_keep_their_columns_and_read_no_markup(reports: list[tuple[str, Report]]) -> None:
    text = formats.render_markdown([("<img> | @team", hostile(reports[0][1]))])
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 12, line
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)(<img|@team)", outside_code)
    assert "\n# head" not in text


def test_a_limit_leaves_out_the_last_rows_whole() -> None:
    reports = [(name, synthetic.build(cases=6, runners=3)) for name in ("a", "b")]
    whole = formats.render_markdown(reports)
    rows = lines(whole)
    size = len(whole.encode())
    seen: set[int] = set()
    for limit in (*range(400, size, 97), *range(size - 400, size)):
        text = formats.render_markdown(reports, limit)
        assert len(text.encode()) <= limit
        kept = lines(text)
        assert kept == rows[: len(kept)]
        assert f"Left out for length: {len(rows) - len(kept)} of {len(rows)} rows" in text
        for row in re.findall(r"^### .+\n\n\|.+\n\| --- .+\n(.?)", text, re.MULTILINE):
            assert row == "|", "a table without a row"
        seen.add(len(kept))
    assert seen >= {0, len(rows) - 1}


def test_what_fits_exactly_is_whole(reports: list[tuple[str, Report]]) -> None:
    whole = formats.render_markdown(reports)
    note = formats.left_out(20, 20)
    assert formats.render_markdown(reports, len(f"{whole}{note}\n".encode())) == whole


def test_a_limit_too_small_for_anything_is_refused(reports: list[tuple[str, Report]]) -> None:
    with pytest.raises(UsageError, match=r"--limit 20: not even .*; give at least (\d+)") as told:
        formats.render_markdown(reports, 20)
    least = int(str(told.value).split()[-1])
    assert "20 of 20 rows" in formats.render_markdown(reports, least)
