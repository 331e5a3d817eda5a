"""The merged report: its page, its size, its Markdown and text."""

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from gzip import decompress
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.html import page as packed
from sqlitmus.results.machines import Answer, MergedReport, Row
from sqlitmus.results.ranking import Contrast, Interval, Ranking
from sqlitmus.results.recommendation import Choice, Weighed
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import case, counts, plan
from tests.machines.merged_runs import Directory
from tests.render import synthetic
from tests.render.printing import as_markdown, as_text, data_of, parse, reported

Made = tuple[MergedReport, list[bytes]]


def test_golden_fragments(made: Made, snapshot: SnapshotAssertion) -> None:
    text = packed.render_merged(*made)

    def between(start: str, end: str) -> str:
        place = text.index(start)
        return text[place : text.index(end, place) + len(end)]

    assert between('<section id="answer"', "</section>") == snapshot(name="answer")
    assert between('<section id="holds"', "</section>") == snapshot(name="holds")
    assert between('<section id="machines"', "</section>") == snapshot(name="machines")


def test_the_page_begins_with_who_is_fastest_on_all_machines(made: Made) -> None:
    def decided(*fronts: list[str]) -> MergedReport:
        choices = [Choice("p", "a service", "", {}, [], ranking=Ranking(each)) for each in fronts]
        machines = [
            replace(machine, headline=[Weighed([choice], {}, [])])
            for machine, choice in zip(made[0].machines, choices, strict=True)
        ]
        return replace(made[0], machines=machines)

    def finding(report: MergedReport) -> str:
        return as_markdown(report).split("\n\n")[1]

    depends = "2 comparisons depend on the machine."
    shared = decided(["rust", "bun", "deno"], ["bun", "deno"], ["node", "bun", "deno"])
    # deno is emulated on one of them
    assert finding(shared) == (
        f"For a service, bun is fastest or tied for it on all 3 machines; {depends}"
    )
    apart = decided(["rust"], ["bun"], ["rust"])
    assert finding(apart) == (
        f"For a service, who is fastest differs between the machines; {depends}"
    )
    assert "For a service" not in finding(decided(["rust"], [], ["rust"]))


def test_golden_markdown_and_text(made: Made, snapshot: SnapshotAssertion) -> None:
    assert as_markdown(made[0]) == snapshot(name="markdown")
    assert as_text(made[0]) == snapshot(name="text")
    short = as_text(made[0], brief=True)
    assert short == snapshot(name="brief text")
    assert len(short.splitlines()) <= 40
    plain = as_text(made[0], 60, plain=True)
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 60


def test_machines_that_measured_in_different_schemes_are_told(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    turns = {"get-pk": {"node": counts(10, rounds=8)}}
    directory.add("linux-x64", plan(cases=[case("get-pk")], counts=turns))
    directory.add("macos-arm64", plan(cases=[case("get-pk")]), kind="macos-arm64")
    report, _ = reported(directory)
    assert as_markdown(report).count(
        "The processes of a case took turns on linux-x64 and ran one after the other on "
        "macos-arm64; that alone can change a ratio."
    ) == 1  # fmt: skip
    one, _ = reported(directory, 1)
    assert "took turns" not in as_markdown(one)


def test_each_machines_page_is_inside_as_it_is_alone(made: Made) -> None:
    report, pages = made
    text = packed.render_merged(report, pages)
    scripts = [attrs for tag, attrs in parse(text).elements if tag == "script"]
    names = [attrs["data-of"] for attrs in scripts if "data-of" in attrs]
    assert names == [machine.name for machine in report.machines]
    for inside, given in zip(
        re.findall(r'<script type="application/octet-stream" data-page[^>]*>([^<]+)<', text),
        pages,
        strict=True,
    ):
        assert b64decode(inside) == given
        assert b'<table id="grid">' in decompress(given)


def test_the_policy_admits_the_scripts_of_both_pages_and_nothing_else(made: Made) -> None:
    page = parse(packed.render_merged(*made))
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a) or ""
    inner = parse(decompress(made[1][0]).decode())
    theirs = next(a["content"] for _, a in inner.elements if "http-equiv" in a) or ""
    hashes = set(re.findall(r"'sha256-[^']+'", policy))
    assert set(re.findall(r"'sha256-[^']+'", theirs)) < hashes
    assert len(hashes) == 3
    assert re.sub(r" 'sha256-[^']+'", "", policy) == re.sub(r" 'sha256-[^']+'", "", theirs)


def test_pages_without_room_stay_out_and_say_how_to_see_them(made: Made) -> None:
    report, pages = made
    large = bytes(packed.LIMIT)
    text = packed.render_merged(report, [pages[0], large, pages[2]])
    assert len(text.encode()) < packed.LIMIT
    names = re.findall(r'data-of="([^"]+)"', text)
    assert names == ["linux-x64", "macos-arm64"]
    assert f'./just report results/{report.run} --machine "linux-x64 (2)"' in text.replace(
        "&#34;", '"'
    )
    machines = {one["name"]: one["here"] for one in data_of(text)["machines"]}
    assert machines == {"linux-x64": True, "linux-x64 (2)": False, "macos-arm64": True}


def test_a_page_that_could_never_fit_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    report = synthetic.build(cases=9, runners=3, blocks=8)
    assert packed.pack(report)
    monkeypatch.setattr(packed, "MOST_CELLS", 26)
    assert packed.pack(report) == b""


def many(report: MergedReport, count: int, machines: int) -> MergedReport:
    """As many rows on as many machines, half of them not resolved."""
    ratio = Interval(0.76123, 0.74456, 0.79789)
    answers = [Answer(Contrast("deno", "node", ratio, Verdict.MATERIALLY_FASTER))] * machines
    row = report.rows[0]
    rows: list[Row] = []
    for number in range(count):
        word = "not resolved" if number % 2 else "holds on all"
        one = replace(row, case=f"case-{number}", word=word, text=word, answers=answers)
        rows.append(replace(one, verdict=None if number % 2 else Verdict.MATERIALLY_FASTER))
    return replace(report, rows=rows, machines=[report.machines[0]] * machines)


def test_rows_without_room_are_counted_and_decided_ones_come_first(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "ROOM", 300_000)
    monkeypatch.setattr("sqlitmus.render.markdown.LIMIT", 200_000)
    report = many(made[0], 400, 36)
    text = packed.render_merged(report, [b""] * 36)
    assert len(text.encode()) < packed.ROOM + 200_000
    ranks = re.findall(r' data-c="case-\d+" data-rank="(\d)"', text)
    shown = len(ranks)
    assert 20 < shown < 200
    assert set(ranks) == {"1"}  # holds on all
    assert f"Left out for length: {400 - shown} rows. " in text
    assert f"report results/{report.run} --format json" in text
    markdown = as_markdown(report)
    assert 150_000 < len(markdown.encode()) <= 200_000
    assert "Left out for length" in markdown


def test_a_merge_without_anything_renders(made: Made) -> None:
    empty = replace(made[0], rows=[], machines=[], groups=[], refused=[], expected=[])
    assert "No machine has a comparison." in packed.render_merged(empty, [])
    assert as_markdown(empty)
    assert as_text(empty, 80)


def test_the_forest_draws_every_machine(made: Made) -> None:
    (row,) = (r for r in made[0].rows if (r.case, r.runner) == ("get-pk", "deno"))
    sides = packed.drawing(row.answers, row.pooled, packed.machine_axis([row])).sides
    assert sum(points.count("h0") for _, _, points in sides) == 3
    assert [side for side, _, _ in sides].count("em") == 1
    slow = Contrast("deno", "node", Interval(9.0, 8.0, 10.0), Verdict.MATERIALLY_SLOWER)
    far = replace(row, answers=[Answer(slow)])
    ((_, _, points),) = packed.drawing(far.answers, far.pooled, packed.machine_axis([far])).sides
    assert not points


def test_the_page_works_in_chromium(made: Made, check_page: Callable[[str], str]) -> None:
    found = check_page(packed.render_merged(*made))
    assert "no problems" in found
    assert "links within a machine's page stay in it" in found
