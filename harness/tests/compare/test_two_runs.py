"""Two finished runs: controls take out what changed besides the subject, or there is no verdict."""

import re
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from bootstrap.context import Context, Settings
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.compare import subject
from sqlitmus.compare.comparison import compare_runs
from sqlitmus.compare.subject import EXPECTED, Subject, parse
from sqlitmus.vocabulary.paths import Tools
from tests.analysis import runs
from tests.refusals import refusal, refused
from tests.worded import headline, notices

Json = dict[str, Any]
MACHINE = {"cpu": "x", "cores": "4", "architecture": "x86_64", "memory": "8.0 GiB", "os": "o"}
BASE, NEW = "node in old", "node in new"


def planned(run: str, names: tuple[str, ...] = ("node", "bun", "rust-ffi"), **changes: Any) -> Json:
    """A plan; node is of another version in the run `new`."""
    identity = runs.description("node")
    identity["identity"]["runtime"]["version"] = "2.0" if run == "new" else "1.0"
    runners = [
        runs.runner(n, description=identity) if n == "node" else runs.runner(n) for n in names
    ]
    usual = {"run": run, "blocks": 20, "size": "m", "seed": len(run), "runners": runners}
    return runs.plan(names, **{**usual, **changes})


def other(run: str, time: runs.Times) -> runs.Times:
    """The same times with other noise: of other blocks."""
    shift = 1000 if run == "new" else 2000
    return lambda c, label, block: time(c, label, block + shift)


def run(of: Json, time: runs.Times | None = None, **machine: str) -> runs.RunData:
    return runs.make(
        of, time=other(of["run"], time or runs.noisy()), machine={**MACHINE, **machine}
    )


def pair(
    old: runs.Times | None = None, new: runs.Times | None = None, **changes: Any
) -> tuple[runs.RunData, runs.RunData]:
    return run(planned("old", **changes), old), run(planned("new", **changes), new)


def compared(report: runs.Report, number: int = 0) -> runs.Contrast:
    return runs.contrast(report, NEW, BASE, number)


def slower_machine(factor: float, time: runs.Times) -> runs.Times:
    return lambda c, label, block: factor * time(c, label, block)


def slower(factor: float) -> runs.Times:
    return runs.noisy({"node": factor, "canary": factor})


def test_what_changed_besides_the_subject_is_taken_out() -> None:
    report = compare_runs(*pair(runs.noisy(), slower_machine(1.3, slower(1.1))), None)
    node = compared(report)
    low, high = runs.ends(node.ratio)
    assert low < 1.1 < high
    assert (node.verdict, node.ratio.value) == ("materially slower", pytest.approx(1.1, rel=0.02))
    (told,) = headline(report)
    assert told == (
        "The runs shared no blocks. Controls that stayed unchanged (bun and rust-ffi) show how far "
        "the machine drifted between them; that drift has been subtracted. What is constant within "
        "a run, such as memory layout, is in no interval, so a verdict here is one between runs."
    )
    assert (report.kind, report.reference, report.correction) == ("compare", BASE, "holm")
    assert [r.name for r in report.runners] == [BASE, NEW]
    assert report.title == "node: new against old"


def test_a_machine_that_grew_slower_is_no_difference() -> None:
    node = compared(compare_runs(*pair(runs.noisy(), slower_machine(1.3, runs.noisy())), "node"))
    assert node.verdict in ("equivalent", "not resolved")
    assert node.ratio.value == pytest.approx(1, abs=0.02)


def test_without_a_control_there_are_figures_and_no_verdicts() -> None:
    report = compare_runs(*pair(runs.noisy(), slower(2.0), names=("node",)), None)
    node = compared(report)
    assert (node.verdict, node.needs_blocks) == ("not testable", None)
    assert node.ratio.value == pytest.approx(2, rel=0.05)
    (told,) = headline(report)
    assert "no runner stayed unchanged" in told
    assert told.endswith("Measure both in one run, with `./just compare BASE NEW`.")
    base, new = (runs.sure(cell.time) for cell in report.cases[0].cells)
    assert new.value / base.value == pytest.approx(2, rel=0.05)


def test_a_control_that_changed_as_well_is_none() -> None:
    new = planned("new")
    for each in new["runners"]:
        each["description"] = runs.description(each["name"], sqlite="3.52.0")
    report = compare_runs(run(planned("old")), run(new, slower(2.0)), "node")
    assert compared(report).verdict == "not testable"
    assert "no runner stayed unchanged" in headline(report)[0]


def without(
    run: str, name: str, factor: float = 1.0, outcome: str = "unsupported", **changes: Any
) -> runs.RunData:
    """The run with runner `name` not ok in its first case."""
    plain, where = planned(run, **changes), {"runner": name, "case": "get-pk"}
    verify = runs.change(runs.checks(plain), {"outcome": outcome, "reason": "r"}, **where)
    lines = runs.drop(runs.samples(plain, other(run, slower(factor))), **where)
    return runs.make(plain, verify=verify, lines=lines, machine=MACHINE)


@pytest.mark.parametrize("where", [("old",), ("new",), ("old", "new")])
def test_a_control_that_cannot_do_a_case_is_left_out_of_it(where: tuple[str, ...]) -> None:
    old, new = (
        without(name, "bun", factor) if name in where else run(planned(name), slower(factor))
        for name, factor in (("old", 1.0), ("new", 1.2))
    )
    report = compare_runs(old, new, "node")
    for number in (0, 1):
        node = compared(report, number)
        assert node.verdict == "materially slower"
        assert node.ratio.value == pytest.approx(1.2, rel=0.02)


def test_a_case_without_any_control_gets_no_verdict() -> None:
    names = ("node", "bun")
    new = without("new", "bun", 2.0, "failed", names=names)
    report = compare_runs(run(planned("old", names)), new, "node")
    node = report.cases[0].comparisons.of(NEW, BASE)
    assert node is None or node.verdict is runs.Verdict.NOT_TESTABLE
    assert compared(report, 1).verdict == "materially slower"


def test_a_subject_that_failed_in_one_run_is_not_compared_there() -> None:
    report = compare_runs(run(planned("old")), without("new", "node", 1.2, "wrong"), "node")
    assert report.cases[0].comparisons.of(NEW, BASE) is None
    assert [c.outcome for c in report.cases[0].cells] == ["ok", "wrong"]
    assert compared(report, 1).verdict == "materially slower"


def test_a_subject_that_still_warms_up_in_one_run_is_not_compared_there() -> None:
    of = planned("new")

    def drift(line: Json) -> Json:
        warms_up = (line["case"], line["runner"]) == ("get-pk", "node")
        return {"drift": (0.9 if warms_up else 1.0) + (0.01, -0.01)[line["block"] % 2]}

    lines = runs.change(runs.samples(of, other("new", runs.noisy())), drift)
    report = compare_runs(run(planned("old")), runs.make(of, lines=lines, machine=MACHINE), "node")
    assert compared(report, 1).verdict is not runs.Verdict.NOT_TESTABLE
    assert report.cases[0].comparisons.of(NEW, BASE) is None
    assert any("Still warming up, so compared with nothing" in told for told in notices(report))


def test_a_control_that_differs_from_itself_in_either_run_is_told() -> None:
    quiet, small = runs.noisy(), slower(1.03)

    def biased(time: runs.Times) -> runs.Times:
        return lambda c, label, b: time(c, label, b) * (1.2 if label == "canary" else 1)

    for old, new, whose in (
        (quiet, small, ""), (biased(quiet), small, "old: "), (quiet, biased(small), "new: ")
    ):  # fmt: skip
        report = compare_runs(*pair(old, new), None)
        assert compared(report).verdict in ("slower", "materially slower")
        told = [text for text in notices(report) if "control differs from itself" in text]
        assert [text.startswith(whose) for text in told] == [True] * bool(whose)


def test_runs_without_canaries_are_compared_by_their_blocks_alone() -> None:
    both = pair(runs.noisy(), runs.noisy({"node": 1.2}), canary=None)
    assert compared(compare_runs(*both, None)).verdict == "materially slower"


def test_unequal_numbers_of_blocks_are_compared_by_the_fewer() -> None:
    old = run(planned("old", blocks=40))
    new, few = (run(planned("new", blocks=blocks), slower(1.2)) for blocks in (12, 9))
    report = compare_runs(old, new, None)
    assert (compared(report).blocks, compared(report).verdict) == (12, "materially slower")
    assert (report.blocks_planned, report.blocks_complete) == (12, 12)
    assert compared(compare_runs(old, few, None)).verdict == "not testable"


def cases(*names: str, **of_last: Any) -> list[Json]:
    return [*map(runs.case, names[:-1]), runs.case(names[-1], **of_last)]


def test_only_cases_of_both_runs_are_compared() -> None:
    old, new = run(planned("old", cases=cases(*"ab"))), run(planned("new", cases=cases(*"bc")))
    assert [c.id for c in compare_runs(old, new, None).cases] == ["b"]


def test_facts_of_the_two_are_beside_each_other() -> None:
    version = next(fact for fact in compare_runs(*pair(), None).provenance if fact.differs)
    assert [value.rpartition(" ")[2] for value in version.values.values()] == ["1.0", "2.0"]
    assert list(version.values) == [BASE, NEW]


def test_secondary_figures_have_no_verdicts() -> None:
    # bun, since a run's own reference has none anyway
    for cell in compare_runs(*pair(), "bun").cases[0].cells:
        assert {"cold", "cpu", "peak_rss"} <= set(cell.figures)
        assert all(measure.contrast is None for measure in cell.figures.values())
        assert (cell.overhead, cell.overhead_verdict) == (None, None)


# which runs can be compared, and why not ----------------------------------------------------------

Pair = tuple[runs.RunData, runs.RunData]


def differing(old: Json, new: Json, **both: Any) -> Pair:
    """Two runs whose plans differ in this."""
    return run(planned("old", **both, **old)), run(planned("new", **both, **new))


def twice(name: str) -> Pair:
    of = run(planned(name))
    return of, of


def machines(old: Json, new: Json) -> Pair:
    return run(planned("old"), **old), run(planned("new"), **new)


def bun_is(changes: Json) -> Pair:
    """In the run `new` bun has these changes."""
    new = planned("new")
    new["runners"][1] |= changes
    return run(planned("old")), run(new)


def turns(old: int, new: int, *processors: int | None) -> Pair:
    """Runs of a case of so many rounds of turns, and of one on two threads that takes turns."""
    before, after = (
        {
            "counts": {
                "get-pk": {"node": runs.counts(10, rounds=rounds)},
                "parallel": {"node": runs.counts(10, rounds=5)},
            },
            "processor": processor,
        }
        for rounds, processor in zip((old, new), processors or (None, None), strict=True)
    )
    return differing(before, after, cases=cases("get-pk", "parallel", workers=2))


GONE = {"missing": "not installed", "description": None}
UPDATED = {"description": runs.description("bun", sqlite="3.52.0")}
HASHES = {"scenario get-pk": "1", "fixture users": "1"}
USERS: Json = {"cases": [runs.case("get-pk", fixture="users")]}
PAIRS: dict[str, tuple[Callable[[], Pair], str | None]] = {
    **{
        f"the same run twice, -r {name}": (partial(twice, "old"), name)
        for name in (None, "node")
    },
    **{
        f"another {fact}": (
            partial(machines, {"kernel": "6.1"}, {"kernel": "6.1", fact: "another"}), None
        )
        for fact in ("cpu", "cores", "architecture", "memory", "os", "kernel")
    },
    "a fact of one machine alone": (partial(machines, {}, {"kernel": "6.1"}), None),
    "other loads": (partial(machines, {"load at start": "1"}, {"load at start": "2"}), None),
    "fixtures of different sizes": (partial(differing, {"size": "s"}, {"size": "m"}), None),
    "no case in common": (
        partial(differing, {"cases": cases("a")}, {"cases": cases("b")}), None
    ),
    **{
        f"other {name} in a case": (
            partial(differing, {"cases": cases(*"ab")}, {"cases": cases(*"ab", **{name: value})}),
            None,
        )
        for name, value in (("sql", ["SELECT 2"]), ("workers", 3))
    },
    **{
        f"another {name}": (
            partial(
                differing, {"definitions": HASHES}, {"definitions": {**HASHES, name: "2"}}, **USERS
            ),
            None,
        )
        for name in HASHES
    },
    **{
        f"no common runner, -r {name}": (
            lambda: (run(planned("old", ("node",))), run(planned("new", ("bun",)))), name
        )
        for name in (None, "bun")
    },
    **{f"bun changed, too, -r {name}": (partial(bun_is, UPDATED), name) for name in (None, "bun")},
    **{f"bun is missing, -r {name}": (partial(bun_is, GONE), name) for name in (None, "bun")},
    "the new one took turns": (partial(turns, 0, 5), None),
    "the old one took turns": (partial(turns, 5, 0), None),
    "both took turns": (partial(turns, 5, 5), None),
    "the new one kept to a processor": (partial(turns, 5, 5, None, 1), None),
    "the old one kept to a processor": (partial(turns, 5, 5, 1, None), None),
    "both kept to a processor": (
        partial(turns, 5, 5, 0, 1), None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_can_be_compared_and_why_the_rest_cannot(
    name: str, snapshot: SnapshotAssertion
) -> None:
    pair_of, runner = PAIRS[name]
    pair, reports = pair_of(), list[runs.Report]()
    error = refusal(lambda: reports.append(compare_runs(*pair, runner)))
    told = [(report.reference, len(report.cases), headline(report)) for report in reports]
    assert (str(error or ""), told) == snapshot


RUNNERS = ["node", "node-better-sqlite3", "rust", "rust-ffi"]
TOOLS = Tools({"node": "/tools/node"}, {})
NODE = RunnerSpec(
    name="node",
    title="Node · node:sqlite",
    runtime="Node",
    driver="node:sqlite",
    tool="node",
    command=["{node}", "{runners}/node/main.js"],
    handwritten=["{node_dir}/by-hand"],
    environment={"A": "b"},
    role="floor",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node", Subject("node")),
        ("node@24", Subject("node", version="24")),
        ("node@v24.1.0", Subject("node", version="24.1.0")),
        ("node@>=24 <25", Subject("node", version=">=24 <25")),
        ("node@^24.1 || 26", Subject("node", version="^24.1 || 26")),
        ("node@26.0.0-rc.1", Subject("node", version="26.0.0-rc.1")),
        ("node=/opt/c++/a=b@2/node", Subject("node", path="/opt/c++/a=b@2/node")),
        ("rust+threading=serialized", Subject("rust", engine={"threading": "serialized"})),
        (
            "rust=../r+memstatus=0+threading=multi-thread",
            Subject("rust", path="../r", engine={"memstatus": 0, "threading": "multi-thread"}),
        ),
        ("node-better-sqlite3@12.4.1", Subject("node-better-sqlite3", version="12.4.1")),
    ],
)
def test_texts_that_name_a_subject(text: str, expected: Subject) -> None:
    assert parse(text, RUNNERS) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("nod", "", "rust-fi+a=1", "node@", "node=", "node=+threading=x", "node@file:../evil"),
        *("node@-g", "node@24+threading", "rust+threading", "rust+threading="),
        *("rust+threading=a b", "rust+a=1+a=2"),
    ],
)
def test_texts_that_name_none_are_told_with_examples(
    text: str, snapshot: SnapshotAssertion
) -> None:
    with refused() as raised:
        parse(text, RUNNERS)
    assert str(raised.value).replace(EXPECTED, "EXPECTED") == snapshot


WORDS = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
SUBJECTS = st.builds(
    Subject,
    st.sampled_from(RUNNERS),
    version=st.none() | st.from_regex(r"\A[0-9]{1,2}(\.[0-9]{1,2}){0,2}\Z"),
    engine=st.dictionaries(WORDS, WORDS | st.integers(-9, 9)),
) | st.builds(
    Subject,
    st.sampled_from(RUNNERS),
    path=st.text(string.ascii_letters + "/@=. ", min_size=1),
    engine=st.dictionaries(WORDS, WORDS | st.integers(-9, 9)),
)


@given(SUBJECTS)
def test_a_subjects_text_is_read_back(given: Subject) -> None:
    assert parse(str(given), RUNNERS) == given


@given(st.text())
def test_any_text_is_a_subject_or_a_usage_error(text: str) -> None:
    read: list[Subject] = []
    if not refusal(lambda: read.append(parse(text, RUNNERS))):
        assert read[0].runner in RUNNERS


def test_labels_show_the_end_of_a_path_that_tells_subjects_apart() -> None:
    def labels(*texts: str) -> list[str]:
        return subject.labels_of([parse(text, RUNNERS) for text in texts])

    assert labels("node", "node@24", "rust+a=1") == ["node", "node@24", "rust+a=1"]
    assert labels("node=/home/u/out/Release/node", "node=node") == [
        "node=…/Release/node",
        "node=node",
    ]
    assert labels("node=/x/a/bin/node", "node=/x/b/bin/node", "rust=/q/r/s/t") == [
        "node=…/a/bin/node",
        "node=…/b/bin/node",
        "rust=…/r/s/t",
    ]
    assert labels("node=/a/b/c/d", "node=/z/a/b/c/d", "node=a/b/c/d") == [
        "node=/a/b/c/d",
        "node=…/a/b/c/d",
        "node=a/b/c/d",
    ]


@given(st.lists(SUBJECTS, unique_by=str, max_size=4))
def test_labels_of_different_subjects_differ(given: list[Subject]) -> None:
    assert len(set(subject.labels_of(given))) == len(given)


def test_a_plain_subject_is_the_runner_itself() -> None:
    assert subject.derive(NODE, Subject("node"), "node", TOOLS) == (NODE, TOOLS)


def test_another_program_stands_for_the_runners_tool() -> None:
    program = Path("/opt/{new}/node")
    asked = Subject("node", path=str(program))
    made, tools = subject.derive(NODE, asked, "node=…/node", TOOLS, program=program)
    assert made == NODE.model_copy(
        update={
            "name": "node=…/node",
            "title": "Node · node:sqlite, /opt/{new}/node",
            "tool": "node=…/node",
            "command": ["/opt/{{new}}/node", "{runners}/node/main.js"],
            "handwritten": ["/opt/{{new}}/by-hand"],
            "role": "runner",
        }
    )
    assert tools.paths == {"node": "/tools/node", "node=…/node": "/opt/{new}/node"}
    assert TOOLS.paths == {"node": "/tools/node"}


def test_another_package_and_engine_options_are_added_to_the_runners_own() -> None:
    base = NODE.model_copy(update={"engine": {"a": 1, "b": 2}})
    asked = Subject("node", version="13.1.1", engine={"b": 3, "c": "x"})
    made, tools = subject.derive(base, asked, str(asked), TOOLS, package=Path("/v/a b"))
    assert (made.name, made.title) == (str(asked), "Node · node:sqlite, 13.1.1+b=3+c=x")
    assert made.engine == {"a": 1, "b": 3, "c": "x"}
    assert made.environment == {"A": "b", "SQLITMUS_BETTER_SQLITE3": "file:///v/a%20b/"}
    assert made.sources == [".", "/v/a b"]
    assert (made.command, made.tool, tools) == (NODE.command, "node", TOOLS)


def test_the_variable_is_the_one_that_the_driver_reads() -> None:
    driver = Path(__file__).parents[3] / "runners/javascript/drivers/driver.js"
    assert re.findall(r"\"(SQLITMUS_\w+)\"", driver.read_text("utf-8")) == [
        subject.PACKAGE_VARIABLE
    ]


def test_the_batch_file_of_windows_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Context(tmp_path, tmp_path, Settings.load(), {})
    script = tmp_path / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.parent.mkdir(parents=True)
    script.touch()
    found = {"npm": tmp_path / "npm.CMD", "node": tmp_path / "node"}
    monkeypatch.setattr(Context, "find", lambda _self, tool: found.get(tool))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert subject.program(here) == [str(tmp_path / "node"), str(script)]
    script.unlink()
    assert subject.program(here) == [str(tmp_path / "npm.CMD")]
