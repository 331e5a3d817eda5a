import csv
import io
import re
from dataclasses import replace

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.export import formats
from sqlitmus.results.report import Report
from tests.analysis.runs import case, make, noisy, plan, samples
from tests.refusals import refused
from tests.render import synthetic
from tests.render.printing import check_gfm, poisoned


@pytest.fixture(scope="module")
def reports() -> list[tuple[str, Report]]:
    """Two machines."""
    return [("linux-x64", synthetic.build(cases=14)), ("macos-arm64", synthetic.build(cases=6))]


def lines(text: str) -> list[str]:
    """The rows of all tables, without their heads."""
    found = [line for line in text.splitlines() if line.startswith("| `")]
    return [line for line in found if not line.startswith("| case")]


def test_the_reference_comes_first_and_shows_its_time(reports: list[tuple[str, Report]]) -> None:
    name, report = reports[0]
    text = formats.render_markdown([(name, replace(report, reference="bun"))])
    assert text.splitlines()[2].startswith("| case | `bun` | `node` |")
    assert re.match(r"\| `[^`]+` \| [\d.]+\u202fms \| ▼ \*\*1\.", lines(text)[0])
    text = formats.render_markdown([(name, synthetic.build_compare())])
    assert text.splitlines()[2] == "| case | `node@24.11.0` | `node@26.10.0` |"


def test_tables_keep_their_columns_and_read_no_markup(reports: list[tuple[str, Report]]) -> None:
    text = formats.render_markdown([("<img> | @team", poisoned(reports[0][1]))])
    check_gfm(text)
    for line in text.splitlines():
        assert not line.startswith("|") or len(re.findall(r"(?<!\\)\|", line)) == 12, line


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
    note = "_Left out for length: 20 of 20 rows; csv and json have all._\n"
    assert formats.render_markdown(reports, len(f"{whole}{note}\n".encode())) == whole


def test_a_limit_too_small_for_anything_is_refused(reports: list[tuple[str, Report]]) -> None:
    with refused(r"--limit 20: not even .*; give at least (\d+)") as told:
        formats.render_markdown(reports, 20)
    least = int(str(told.value).split()[-1])
    assert "20 of 20 rows" in formats.render_markdown(reports, least)


@pytest.fixture(scope="module")
def compared() -> Report:
    """Three cases of two blocks."""
    cases = [
        case("get-pk@a", axes={"workers": "1", "profile": "shipped"}),
        case("get-pk@b", axes={"workers": "2", "profile": "it's"}),
        case("noop"),
    ]
    of = plan(["base", "new"], kind="compare", correction="holm", blocks=2, cases=cases)
    return analyse(make(of, lines=samples(of, noisy({"new": 1.02}))))


def rows(report: Report) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(formats.render_node_csv(report)))]


def test_it_is_that_of_compare_js(compared: Report) -> None:
    lines = formats.render_node_csv(compared).splitlines()
    assert lines[0] == '"binary","filename","configuration","rate","time"'
    assert lines[1].startswith('"old","get-pk","workers=1 profile=\'shipped\'",')
    assert lines[5].startswith('"old","get-pk","workers=2 profile=""it\'s""",')
    assert [row["binary"] for row in rows(compared)] == ["old", "old", "new", "new"] * 3
    for row, ns in zip(rows(compared), (ns for c in compared.cases for x in c.cells
                       for ns in x.samples), strict=True):  # fmt: skip
        assert ns is not None
        assert float(row["rate"]) == pytest.approx(1e9 / ns)
        assert float(row["time"]) == pytest.approx(ns / 1e9)


def test_a_case_without_a_time_on_one_side_is_left_out(compared: Report) -> None:
    first, *others = compared.cases
    old, new = first.cells
    failed = replace(first, cells=[old, replace(new, outcome="failed", time=None)])
    assert len(rows(compared)) == 12
    assert len(rows(replace(compared, cases=[failed, *others]))) == 8


def test_a_suite_is_refused() -> None:
    with refused("no comparison"):
        formats.render_node_csv(synthetic.build(cases=1))


def test_a_name_cannot_drive_a_terminal(compared: Report) -> None:
    text = formats.render_node_csv(
        replace(compared, cases=[replace(compared.cases[0], scenario="a\x1b[31m\nb")])
    )
    assert "\x1b" not in text
    assert len(text.splitlines()) == 1 + 4
