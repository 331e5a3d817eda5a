"""`claims` as a whole: what it lists, measures, prints and writes."""

import hashlib
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from math import exp
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.machine import system
from tests.cli.calling import Call, check_refusals, data, together, with_mode
from tests.fakes.clone import Clone, Done, long_enough
from tests.fakes.instant import Desk, Pace, even, jitter
from tests.machines.folders import ask
from tests.render.printing import opened

CLAIM = data("claim.toml")
FILE = "scenarios/claims/a-faster.toml"
RUNNERS = ("old", "new", "other")
OPTIONS = ("--size", "s", "--seed", "3", "--blocks", "12", "--explain")


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.clone.write(FILE, CLAIM)
    with_mode(desk.clone, "claims")
    scenarios = desk.clone.root / "scenarios"
    desk.monkeypatch.setattr("sqlitmus.vocabulary.paths.SCENARIOS", scenarios)
    desk.instant.paces |= {"old": even(1200, "old"), "new": even(1000, "new")}
    return desk


@pytest.fixture
def claims(at_desk: Call) -> Call:
    return partial(at_desk, "claims")


def test_a_claim_is_measured_and_judged_and_rendered_again(
    desk: Desk, claims: Call, at_desk: Call
) -> None:
    done = claims("faster", *OPTIONS)
    assert done.code == 0, done.err
    assert "1 figure decides 1 published claim: reproduced." in done.out
    assert "■ reproduced" in done.out
    assert f"Run again: ./just claims faster {shlex.join(OPTIONS)}" in done.out
    assert "report: CLONE/results/STAMP-claims/report.html" in done.err
    run = desk.clone.latest()
    assert {sample.runner for sample in run.samples()} == {"old", "new"}
    report = desk.clone.summary()
    assert report.kind == "claims"
    assert report.claims[0].counts == {"reproduced": 1}
    assert 'id="claim-faster"' in (run.path / "report.html").read_text("utf-8")
    (desk.clone.root / FILE).unlink()
    again = at_desk("report", run.path, "--format", "text")
    assert (again.code, again.out) == (0, done.out)


MORE = """
[[groups]]
title = "all(): times as fast"
metric = "steady"
base = { case = "all", runner = "old" }
new = { case = "all", runner = "new" }
rows = [{ name = "rows" }, { name = "a build", untestable = "nobody has it" }]

[[tables]]
title = "all()"
metric = "steady"
cases = ["all"]
runners = ["old"]
"""


def test_with_key_the_rows_that_decide_a_claim_are_measured(desk: Desk, claims: Call) -> None:
    desk.clone.write(FILE, CLAIM + MORE)
    desk.clone.write("scenarios/claims/b-again.toml", CLAIM)
    done = claims("faster", "again", "--key", *OPTIONS)
    assert done.code == 0, done.err
    assert "  faster: 2 cells, about " in done.err
    assert "  again: nothing of its own to measure" in done.err
    report = desk.clone.summary()
    assert [case.id for case in report.cases] == ["get"]
    claim, _ = report.claims
    assert [row.name for group in claim.groups for row in group.rows] == ["a row", "a build"]
    assert claim.counts == {"reproduced": 1}


# an operation takes 2.2 µs, the mean of old and new: 10 ms are 4,096 of them in 8 iterations, an
# iteration of several threads has 20 ms; without a pilot each scenario has its own number
ALIKE = [
    ("get@workers=2", "piloted", {8192}),
    ("all", "piloted", {512}),
    ("get@workers=2", "standard", {4}),
    ("all", "standard", {4, 2}),
]


@pytest.mark.parametrize(("other", "mode", "operations"), ALIKE)
def test_cases_that_a_row_compares_do_the_same_operations_as_far_as_a_pilot_finds_them(
    desk: Desk, claims: Call, other: str, mode: str, operations: set[int]
) -> None:
    with_mode(desk.clone, "claims", mode)
    new = 'new = { case = "get", runner = "new" }'
    desk.clone.replace(FILE, new, new.replace("get", other))
    desk.instant.paces |= {"old": even(5000, "old"), "new": even(1000, "new")}
    assert claims("faster", "--size", "s", "--blocks", "1").code == 0
    counts = desk.clone.latest().plan().counts
    assert {case: list(cells) for case, cells in counts.items()} == {"get": ["old"], other: ["new"]}
    assert {one.operations for cells in counts.values() for one in cells.values()} == operations
    report = desk.clone.summary()
    assert report.claims[0].groups[0].rows[0].base_time is not None  # not refused


def test_a_plan_says_what_claims_take_and_starts_nothing(desk: Desk, claims: Call) -> None:
    for starting in ("catalog.runners.describe", "run.session.run"):
        desk.monkeypatch.setattr(f"sqlitmus.{starting}", None)
    done = claims("faster", "--plan", *OPTIONS)
    assert (done.code, done.err) == (0, "")
    rows = dict(re.findall(r"^ *(new|old|all) +(\d+) ", done.out, re.MULTILINE))
    assert rows == {"old": "1", "new": "1", "all": "2"}
    assert not (desk.clone.root / "results").exists()


def repeating(share: float, noise: float = 0) -> Pace:
    """Operations of a runner that does this share of its work a second time; `noise` comes from
    one invocation to the next, and says nothing of the runner."""

    def time(_operations: int, number: int) -> float:
        return 1000 * (1 + share) * exp(noise * (number * 5 % 7 - 3))

    return time


# published: +24 %; a runner that does that much of its work twice is what was published
PLANTED = [
    (0.24, 0.001, "reproduced"),
    (0.10, 0.001, "smaller than published"),
    (0.0, 0.001, "no effect"),
    (0.60, 0.001, "larger than published"),
    (-0.10, 0.001, "reversed"),
    # the truth does not help a measurement that is too noisy to show it
    (0.24, 0.1, "compatible"),
    (0.24, 0.4, "not resolved"),
]


@pytest.mark.parametrize(("share", "noise", "word"), PLANTED)
def test_a_planted_claim_gets_the_word_of_its_truth(
    desk: Desk, claims: Call, share: float, noise: float, word: str
) -> None:
    desk.clone.replace(FILE, 'published = 1.2, said = "+20 %"', 'published = 1.24, said = "+24 %"')
    desk.instant.paces |= {"old": repeating(share, noise), "new": even(1000, "new")}
    done = claims("faster", *OPTIONS)
    assert done.code == 0, done.err
    assert f"1 figure decides 1 published claim: {word}." in done.out
    (line,) = [line for line in done.out.splitlines() if line.startswith("faster  ")]
    assert re.search(rf" {word.removesuffix(' than published')} +1\.24× ", line)


SCRIPT = "the authors' own benchmark"
EVIDENCE = f"""
[evidence]
repository = "https://example.org/bench"
commit = "{"ab" * 20}"
licence = "MIT"
files = {{ "bench.js" = "{hashlib.sha256(SCRIPT.encode()).hexdigest()}" }}

[evidence.programs.old]
command = ["{{python}}", "bench.js", "old"]
prints = "(?P<figure>[0-9.]+) ns"

[evidence.programs.new]
command = ["{{python}}", "bench.js", "new"]
prints = "(?P<figure>[0-9.]+) ns"

[lessons]"""


# a version of a runner that is not from npm, and a command of the set-up that it cannot begin
VERSION = """[evidence.versions]
first = "old@1.0.0"

[[evidence.setup]]
command = ["{first}", "--version"]
prints = ""

[evidence.programs.old]"""


Beside = Callable[[float], str]


@pytest.fixture
def beside(desk: Desk) -> Beside:
    """Pins a program of authors that finds the old one so many times as slow; its folder."""
    desk.clone.replace(FILE, "\n[lessons]", EVIDENCE)
    desk.clone.replace(FILE, 'said = "+20 %"', 'said = "+20 %", theirs = ["old", "new"]')
    desk.clone.write("theirs/bench.js", SCRIPT)

    def give(ratio: float) -> str:
        runs = count()

        def run(command: list[str], folder: Path, log: Path) -> Any:
            assert (folder / "bench.js").read_text("utf-8") == SCRIPT
            times = {"old": 1000 * ratio, "new": 1000}
            ns = times[command[-1]] * jitter(command[-1], next(runs))
            log.write_text(f"took {ns:.1f} ns", "utf-8")
            return replace(unstarted(command, folder, log), exit_code=0)

        unstarted, desk.instant.author = desk.instant.author, run
        return str(desk.clone.root / "theirs")

    return give


def row_of(desk: Desk, claims: Call, *options: str) -> tuple[Any, str]:
    """The last row of the claim in a run, and what was printed."""
    done = claims("faster", *OPTIONS, *options)
    assert done.code == 0, done.err
    *_, row = desk.clone.summary().claims[0].groups[0].rows
    return row, " ".join(done.out.split())


@pytest.mark.parametrize("ratio", [0.6, 1.2, 2.4])
def test_the_authors_own_program_stands_beside_ours_and_catches_a_wrong_transcription(
    desk: Desk, claims: Call, beside: Beside, ratio: float
) -> None:
    """Half the text, or another binding: ours gives 1.2, theirs does not."""
    row, words = row_of(desk, claims, "--source", beside(ratio))
    assert row.theirs.value == pytest.approx(ratio, rel=0.01)
    assert "--source CLONE/theirs" in words
    assert row.disagrees == ("Not the same work" in words) == (ratio != 1.2)
    if row.disagrees:
        assert "1 figure decides 1 published claim: not the same work." in words
        assert re.search(rf"a row: the authors' own programs give {ratio}\d*\u00d7", words)
        assert words.index("Not the same work") < words.index("Outcome")


def test_what_no_runner_can_test_is_judged_by_the_authors_own_programs(
    desk: Desk, claims: Call, beside: Beside
) -> None:
    folder = beside(1.2)
    absent = '"old", "new"], key = true, untestable = "no runner speaks to it"'
    desk.clone.replace(FILE, '"old", "new"], key = true', absent)
    desk.clone.replace(FILE, "rows = [", 'rows = [{ name = "ours", values = {} }, ')
    row, _ = row_of(desk, claims, "--source", folder)
    assert row.ratio == row.theirs
    assert row.ratio.value == pytest.approx(1.2, rel=0.01)
    assert (row.verdict, row.base) == ("reproduced", "authors/old")
    assert row.reason == "by the authors' programs, since no runner speaks to it"
    row, words = row_of(desk, claims, "--label", "alone")
    assert (row.verdict, row.ratio) == ("not testable here", None)
    assert (row.reason, row.no_theirs) == ("no runner speaks to it", "not run: give --source")
    assert row.no_theirs in words
    desk.clone.write("theirs/bench.js", "something else")
    before = len(desk.instant.measured)
    done = claims("faster", *OPTIONS, "--source", folder)
    assert (done.code, "bench.js is another than that of abababa" in done.err) == (2, True)
    assert len(desk.instant.measured) == before


def test_programs_that_need_a_version_which_cannot_be_had_are_left_out(
    desk: Desk, claims: Call, beside: Beside
) -> None:
    folder = beside(1.2)
    desk.clone.replace(FILE, "[evidence.programs.old]", VERSION)
    for name in ("old", "new"):
        program = f'"bench.js", "{name}"]'
        desk.clone.replace(FILE, f'["{{python}}", {program}', f'["{{first}}", {program}')
    row, _ = row_of(desk, claims, "--source", folder)
    assert row.verdict == "reproduced"
    assert row.no_theirs == "not run: a program that it needs is missing"


def test_what_cannot_be_asked_is_exit_2(claims: Call) -> None:
    check_refusals("claims", claims, begins=False)


def test_claims_are_listed_and_begun_and_nothing_is_measured(desk: Desk, claims: Call) -> None:
    done = claims("--list")
    assert (done.code, "faster" in done.out) == (0, True)
    listed = {"claim": "faster", "title": "The new one is faster", "source": "A post"}
    assert json.loads(claims("--list", "--json").out) == [{**listed, "rows": 1, "cells": 2}]

    done = claims("new", "quicker")
    assert done.code == 0
    assert "b-quicker.toml: fill in what is empty, then: ./just claims quicker" in done.out
    assert claims("--list").code == 2
    assert "b-quicker.toml:7: source: is empty" in claims("quicker").err
    assert claims("faster", "--list").code == 0, "the others can still be asked for"
    assert "b-quicker.toml is the claim quicker already" in claims("new", "quicker").err
    assert "new takes one name" in claims("new").err

    desk.clone.replace(FILE, 'runner = "old"', 'runner = "odd"')
    done = claims("faster")
    assert done.code == 2
    assert "a-faster.toml:20: groups[0].rows[0]: there is no runner 'odd'" in done.err
    assert not (desk.clone.root / "results").exists()


def test_a_budget_never_leaves_fewer_blocks_than_a_word_needs(desk: Desk, claims: Call) -> None:
    done = claims("--size", "s", "--seed", "3", "--time-budget", "0.001s", "-q")
    assert done.code == 0, done.err
    told = "the time budget allows 0 blocks; 10 are the fewest that give a word"
    assert told in done.err, "it is said aloud"
    assert desk.clone.latest().plan().blocks == 10


def test_a_claim_that_nobody_can_test_says_so_beside_one_that_is_measured(
    desk: Desk, claims: Call
) -> None:
    groups = CLAIM.index("[[groups]]")
    row = '{ name = "a row", published = 1.2, said = "+20 %", untestable = "no such machine" }'
    lost = f'[[groups]]\ntitle = "Lost"\nmetric = "steady"\nrows = [{row}]\n'
    title = CLAIM[:groups].replace("The new one is faster", "The old one is lost")
    desk.clone.write("scenarios/claims/b-lost.toml", f'contradicts = "faster"\n{title}{lost}')
    desk.clone.write(FILE, f'contradicts = "lost"\n{CLAIM}')
    done = claims(*OPTIONS, "-q")
    assert done.code == 0, done.err
    assert re.search(r"\nlost .* ∅ not testable  ", done.out)
    said = " ".join(done.out.split())
    assert "no such machine" in said
    assert "says otherwise: The old one is lost (here: not testable here)." in said
    assert "says otherwise: The new one is faster (here: reproduced)." in said
    html = (desk.clone.latest().path / "report.html").read_text("utf-8")
    assert '<a href="#claim-lost">' in html
    assert '<a href="#claim-faster">' in html
    assert "is measured on" in (refused := claims("lost", *OPTIONS)).err
    assert "(no such machine); see ./just claims --list" in refused.err
    alone = claims("faster", *OPTIONS, "-q", "--label", "alone")
    assert alone.code == 0, alone.err
    assert "this run did not measure it: ./just claims faster lost" in " ".join(alone.out.split())


# several processes, started by the launcher -------------------------------------------------------

SCENARIO = data("processes.toml")
SHARED = CLAIM[: CLAIM.index("[[groups]]")] + data("processes_claim.toml")


@pytest.fixture
def shared(clone: Clone) -> Clone:
    """A claim about processes, and a runner that does what it should."""
    clone.write("scenarios/shared.toml", SCENARIO)
    clone.write("scenarios/claims/a-shared.toml", SHARED)
    with_mode(clone, "claims")
    clone.runner("honest")
    return clone


@together
def test_processes_are_released_together_and_the_page_says_how_far_apart(shared: Clone) -> None:
    shared.runner("odd")
    pin = str(system.allowed()[-1])
    done = shared.sqlitmus("claims", "--size", "s", "--blocks", "2", "--pins", pin, "--explain")
    assert done.code == 0, done.err
    assert "starts" in done.out
    path = shared.latest().path
    launches = [
        json.loads(record)["launch"] for (record,) in ask(path, "SELECT record FROM detail")
    ]
    assert len(launches) == 2 * (3 + 1)  # a canary for the scenario
    for launch in launches:
        assert (launch["processes"], launch["pins"]) == (2, [int(pin)] * 2)
        assert len(launch["skew_us"]) == len(launch["start_spread_us"]) == 3
        assert min(launch["skew_us"]) > 0
    places = shared.summary().claims[0].rankings[0].places
    assert {place.runner for place in places} == {"honest", "odd"}
    assert all(place.skew and place.load.voluntary is not None for place in places)
    page = opened((path / "report.html").read_text("utf-8"))
    assert '<th scope="col" class="n">starts apart</th>' in page


ALONE = {
    "hangs-before-barrier": "process 1 of 2: not ready for iteration 1 of 4 within {} s; all are "
    "killed",
    "crashes-at-barrier": "process 1 of 2: ended with exit code 3 before iteration 2 of 4",
}


@together
@pytest.mark.parametrize("behaviour", ALONE)
def test_a_process_that_leaves_the_others_alone_fails_its_cell(
    shared: Clone, behaviour: str
) -> None:
    shared.runner("odd", behaviour)

    def attempt(timeout_s: float) -> tuple[str, Done] | None:
        given = ("--size", "s", "--blocks", "2", "--timeout", f"{timeout_s:g}", "--explain")
        done = shared.sqlitmus("claims", *given)
        failure = ALONE[behaviour].format(f"{timeout_s:g}")
        in_time = failure in done.err and shared.outcomes()["honest"] == "ok"
        return (failure, done) if in_time else None

    failure, done = long_enough(attempt, 1)
    assert done.code == 4
    assert f"shared/odd: failed: {failure}" in done.err
    told = "odd in shared: failed: failed in 1 invocation of 1, first in block 1: "
    assert told + failure in " ".join(done.out.split())
    assert shared.outcomes() == {"honest": "ok", "odd": "failed"}
    assert shared.alive() == []
    whole = [s for s in shared.samples() if s.runner == "honest" and s.outcome == "ok"]
    assert len(whole) == 2 * (2 + 1)  # none is missing beside the failed ones
    assert "shared.odd.measure.log" in shared.evidence()


@together
def test_processes_are_pinned_as_published_unless_told_otherwise(shared: Clone) -> None:
    shared.runner("odd")
    done = shared.sqlitmus("claims", "--size", "s", "--pins", f"{system.allowed()[0]},4096")
    assert done.code == 2
    assert "pin 4096: there is no such processor, or this process may not use it" in done.err
    assert shared.pids() == [], "it measures nothing"
    text = SHARED.replace('published_on = "8 cores"', 'published_on = "8 cores"\npins = 1')
    shared.write("scenarios/claims/a-shared.toml", text)
    first = system.allowed()[0]
    for options, pins in (((), [first]), (("--pins", "none"), [])):
        done = shared.sqlitmus("claims", "--size", "s", "--blocks", "1", *options, "--explain")
        assert done.code == 0, done.err
        assert shared.latest().plan().pins == pins
        said = f"processes pinned to {first if pins else 'no processor'}"
        assert said in " ".join(done.out.split())
