"""The merged report: its page, its size, its Markdown and text."""

import re
from base64 import b64decode
from dataclasses import replace
from gzip import decompress
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.results.machines import Answer, MergedReport
from sqlitmus.results.recommendation import Choice, Weighed
from tests.analysis.runs import case, counts, plan
from tests.machines.merged_runs import Directory
from tests.render import synthetic
from tests.render.printing import Page, as_markdown, as_text, assets, data_of, page, reported
from tests.render.synthetic import Contrast, Interval, Ranking, Verdict

Made = tuple[MergedReport, list[bytes]]


def test_golden_fragments(made: Made, snapshot: SnapshotAssertion) -> None:
    text = page.render_merged(*made)
    for name in ("answer", "holds", "machines"):
        place = text.index(f'<section id="{name}"')
        assert text[place : text.index("</section>", place)] == snapshot(name=name)


def test_golden_markdown_and_text(made: Made, snapshot: SnapshotAssertion) -> None:
    assert as_markdown(made[0]) == snapshot(name="markdown")
    assert as_text(made[0]) == snapshot(name="text")
    short = as_text(made[0], brief=True)
    assert short == snapshot(name="brief text")
    assert len(short.splitlines()) <= 40
    plain = as_text(made[0], 60, plain=True)
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 60


@pytest.mark.parametrize(
    ("fronts", "finding"),
    [
        # deno is emulated on one of them
        (
            [["rust", "bun", "deno"], ["bun", "deno"], ["node", "bun", "deno"]],
            "For a service, bun is fastest or tied for it on all 3 machines",
        ),
        (
            [["rust"], ["bun"], ["rust"]],
            "For a service, who is fastest differs between the machines",
        ),
        ([["rust"], [], ["rust"]], "bun is faster than node in 3 cases on all or most machines"),
    ],
)
def test_the_page_begins_with_who_is_fastest_on_all_machines(
    made: Made, fronts: list[list[str]], finding: str
) -> None:
    choices = [Choice("p", "a service", "", {}, [], ranking=Ranking(each)) for each in fronts]
    machines = [
        replace(machine, headline=[Weighed([choice], {}, [])])
        for machine, choice in zip(made[0].machines, choices, strict=True)
    ]
    first = as_markdown(replace(made[0], machines=machines)).split("\n\n")[1]
    assert first == f"{finding}; 2 comparisons depend on the machine."


def test_machines_that_measured_in_different_schemes_are_told(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    turns = {"get-pk": {"node": counts(10, rounds=8)}}
    directory.add("linux-x64", plan(cases=[case("get-pk")], counts=turns))
    directory.add("macos-arm64", plan(cases=[case("get-pk")]), kind="macos-arm64")
    told = (
        "The processes of a case took turns on linux-x64 and ran one after the other on "
        "macos-arm64; that alone can change a ratio."
    )
    assert [as_markdown(reported(directory, most)[0]).count(told) for most in (9, 1)] == [1, 0]


def test_each_machines_page_is_inside_as_it_is_alone(made: Made) -> None:
    report, pages = made
    text = page.render_merged(report, pages)
    inside = re.findall(r'data-page[^>]*data-of="([^"]+)"[^>]*>([^<]+)<', text)
    assert [(name, b64decode(own)) for name, own in inside] == [
        (machine.name, own) for machine, own in zip(report.machines, pages, strict=True)
    ]
    assert all(b'<table id="grid">' in decompress(own) for own in pages)


def test_the_policy_admits_the_scripts_of_both_pages_and_nothing_else(made: Made) -> None:
    def policy(text: str) -> tuple[set[str], str]:
        elements = Page(text).elements
        words = next(attrs["content"] for _, attrs in elements if "http-equiv" in attrs) or ""
        digest = r" ?'sha256-[^']+'"
        return set(re.findall(digest, words)), re.sub(digest, "", words)

    digests, words = policy(page.render_merged(*made))
    inner, same = policy(decompress(made[1][0]).decode())
    assert f" 'sha256-{assets.digest(assets.bundle())}'" in inner
    assert inner < digests
    assert (len(digests), words) == (3, same)
    assert "default-src 'none'" in words
    assert "unsafe-eval" not in words


def test_pages_without_room_stay_out_and_say_how_to_see_them(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, (first, _, third) = made
    text = page.render_merged(report, [first, bytes(page.LIMIT), third])
    assert len(text.encode()) < page.LIMIT
    assert re.findall(r'data-of="([^"]+)"', text) == ["linux-x64", "macos-arm64"]
    how = f'./just report results/{report.run} --machine "linux-x64 (2)"'
    assert how in text.replace("&#34;", '"')
    machines = {one["name"]: one["here"] for one in data_of(text)["machines"]}
    assert machines == {"linux-x64": True, "linux-x64 (2)": False, "macos-arm64": True}
    # one that could never fit is not made
    alone = synthetic.build(cases=9, runners=3, blocks=8)
    assert page.pack(alone)
    monkeypatch.setattr(page, "MOST_CELLS", 26)
    assert page.pack(alone) == b""


def test_rows_without_room_are_counted_and_decided_ones_come_first(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "ROOM", 300_000)
    monkeypatch.setattr("sqlitmus.render.markdown.LIMIT", 200_000)
    faster = Verdict.MATERIALLY_FASTER
    answer = Answer(Contrast("deno", "node", Interval(0.76123, 0.74456, 0.79789), faster))
    row = replace(made[0].rows[0], answers=[answer] * 36)
    decided = replace(row, word="holds on all", text="holds on all", verdict=faster)
    open_ = replace(row, word="not resolved", text="not resolved", verdict=None)
    rows = [replace((decided, open_)[n % 2], case=f"case-{n}") for n in range(400)]
    report = replace(made[0], rows=rows, machines=[made[0].machines[0]] * 36)
    text = page.render_merged(report, [b""] * 36)
    assert len(text.encode()) < page.ROOM + 200_000
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
    assert "No machine has a comparison." in page.render_merged(empty, [])
    assert as_markdown(empty)
    assert as_text(empty, 80)


def test_the_forest_draws_every_machine(made: Made) -> None:
    (row,) = (r for r in made[0].rows if (r.case, r.runner) == ("get-pk", "deno"))
    sides = page.drawing(row.answers, row.pooled, page.machine_axis([row])).sides
    assert sum(points.count("h0") for _, _, points in sides) == 3
    assert [side for side, _, _ in sides].count("em") == 1
    slow = Contrast("deno", "node", Interval(9.0, 8.0, 10.0), Verdict.MATERIALLY_SLOWER)
    far = replace(row, answers=[Answer(slow)])
    ((_, _, points),) = page.drawing(far.answers, far.pooled, page.machine_axis([far])).sides
    assert not points
