"""Two finished runs: controls take out what changed besides the subject, or there is no verdict."""

import re
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.context import Context, Settings
from sqlitmus.analysis import RunData
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.compare import subject
from sqlitmus.compare.subject import EXPECTED, Subject, parse
from sqlitmus.compare.two_runs import compare_runs
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.paths import Tools
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import (
    Times,
    case,
    change,
    checks,
    counts,
    description,
    drop,
    make,
    noisy,
    plan,
    runner,
    samples,
)
from tests.refusals import refusal, refused, unfit
from tests.worded import headline, notices

Json = dict[str, Any]
MACHINE = {"cpu": "x", "cores": "4", "architecture": "x86_64", "memory": "8.0 GiB", "os": "o"}
BASE, NEW = "node in old", "node in new"
OTHER_WORK = (
    "old and new did not do the same work: {} changed. Compare runs of the same scenarios and "
    "fixtures, or measure both sides in one run with `./just compare BASE NEW`."
)


def planned(run: str, names: tuple[str, ...] = ("node", "bun", "rust-ffi"), **changes: Any) -> Json:
    """A plan; node is of another version in the run `new`."""
    found = plan(names, **{"run": run, "blocks": 20, "size": "m", "seed": len(run), **changes})
    version = "2.0" if run == "new" else "1.0"
    identity = description("node")
    identity["identity"]["runtime"]["version"] = version
    found["runners"] = [
        runner(n, description=identity) if n == "node" else runner(n) for n in names
    ]
    return found


def other(seed: float, time: Times) -> Times:
    """The same times with other noise: of other blocks."""
    return lambda c, label, block: time(c, label, block + round(1000 * seed))


def run(of: Json, time: Times | None = None, **machine: str) -> RunData:
    of_machine = {**MACHINE, **machine}
    shift = 1 if of["run"] == "new" else 2
    return make(of, lines=samples(of, other(shift, time or noisy())), machine=of_machine)


def pair(
    old: Times | None = None, new: Times | None = None, **changes: Any
) -> tuple[RunData, RunData]:
    return run(planned("old", **changes), old), run(planned("new", **changes), new)


def compared(report: Report, number: int = 0) -> Contrast:
    found = report.cases[number].comparisons.of(NEW, BASE)
    assert found is not None
    return found


def slower_machine(factor: float, time: Times) -> Times:
    return lambda c, label, block: factor * time(c, label, block)


def test_what_changed_besides_the_subject_is_taken_out() -> None:
    all_slower = slower_machine(1.3, noisy({"node": 1.1, "canary": 1.1}))
    report = compare_runs(*pair(noisy(), all_slower), None)
    found = compared(report)
    assert found.verdict == "materially slower"
    assert found.ratio.value == pytest.approx(1.1, rel=0.02)
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 1.1 < found.ratio.high
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
    found = compared(compare_runs(*pair(noisy(), slower_machine(1.3, noisy())), "node"))
    assert found.verdict in ("equivalent", "not resolved")
    assert found.ratio.value == pytest.approx(1, abs=0.02)


ALONE = ("node",)


def test_without_a_control_there_are_figures_and_no_verdicts() -> None:
    times = noisy(), noisy({"node": 2.0, "canary": 2.0})
    report = compare_runs(*pair(*times, names=ALONE), None)
    found = compared(report)
    assert (found.verdict, found.needs_blocks) == ("not testable", None)
    assert found.ratio.value == pytest.approx(2, rel=0.05)
    (told,) = headline(report)
    assert "no runner stayed unchanged" in told
    assert told.endswith("Measure both in one run, with `./just compare BASE NEW`.")
    base, new = report.cases[0].cells
    assert base.time is not None
    assert new.time is not None
    assert new.time.value / base.time.value == pytest.approx(2, rel=0.05)


def test_a_control_that_changed_as_well_is_none() -> None:
    old, new = planned("old"), planned("new")
    for one in new["runners"]:
        one["description"] = description(one["name"], sqlite="3.52.0")
    report = compare_runs(run(old), run(new, noisy({"node": 2.0, "canary": 2.0})), "node")
    assert compared(report).verdict == "not testable"
    assert "no runner stayed unchanged" in headline(report)[0]


def without(of: RunData, name: str, outcome: str = "unsupported") -> RunData:
    """The run with runner `name` not ok in its first case."""
    plain = planned(of.plan.run)
    verify = change(checks(plain), {"outcome": outcome, "reason": "r"}, runner=name, case="get-pk")
    time = other(1 if of.plan.run == "new" else 2, noisy({"node": 1.2, "canary": 1.2}))
    if of.plan.run == "old":
        time = other(2, noisy())
    lines = drop(samples(plain, time), runner=name, case="get-pk")
    return make(plain, verify=verify, lines=lines, machine=MACHINE)


@pytest.mark.parametrize("where", [(0,), (1,), (0, 1)])
def test_a_control_that_cannot_do_a_case_is_left_out_of_it(where: tuple[int, ...]) -> None:
    runs = list(pair(noisy(), noisy({"node": 1.2, "canary": 1.2})))
    for number in where:
        runs[number] = without(runs[number], "bun")
    report = compare_runs(runs[0], runs[1], "node")
    for number in (0, 1):
        found = compared(report, number)
        assert found.verdict == "materially slower"
        assert found.ratio.value == pytest.approx(1.2, rel=0.02)


def test_a_case_without_any_control_gets_no_verdict() -> None:
    names = ("node", "bun")
    of = planned("new", names)
    verify = change(checks(of), {"outcome": "failed", "reason": "r"}, runner="bun", case="get-pk")
    lines = drop(
        samples(of, other(1, noisy({"node": 2.0, "canary": 2.0}))), runner="bun", case="get-pk"
    )
    new = make(of, verify=verify, lines=lines, machine=MACHINE)
    report = compare_runs(run(planned("old", names)), new, "node")
    found = report.cases[0].comparisons.of(NEW, BASE)
    assert found is None or found.verdict is Verdict.NOT_TESTABLE
    assert compared(report, 1).verdict == "materially slower"


def test_a_subject_that_failed_in_one_run_is_not_compared_there() -> None:
    old, new = pair(noisy(), noisy({"node": 1.2, "canary": 1.2}))
    report = compare_runs(old, without(new, "node", "wrong"), "node")
    assert report.cases[0].comparisons.of(NEW, BASE) is None
    assert [c.outcome for c in report.cases[0].cells] == ["ok", "wrong"]
    assert compared(report, 1).verdict == "materially slower"


def test_a_subject_that_still_warms_up_in_one_run_is_not_compared_there() -> None:
    old, of = run(planned("old")), planned("new")
    lines = samples(of, other(1, noisy()))
    for line in lines:
        warms_up = (line.get("case"), line.get("runner")) == (of["cases"][0]["id"], "node")
        if "block" in line:
            line["drift"] = (0.9 if warms_up else 1.0) + (0.01, -0.01)[line["block"] % 2]
    report = compare_runs(old, make(of, lines=lines, machine=MACHINE), "node")
    assert compared(report, 1).verdict is not Verdict.NOT_TESTABLE
    assert report.cases[0].comparisons.of(NEW, BASE) is None
    assert any("Still warming up, so compared with nothing" in told for told in notices(report))


def test_a_control_that_differs_from_itself_in_either_run_is_told() -> None:
    quiet, small = noisy(), noisy({"node": 1.03, "canary": 1.03})

    def biased(time: Times) -> Times:
        return lambda c, label, b: time(c, label, b) * (1.2 if label == "canary" else 1)

    for old, new, whose in (
        (quiet, small, ""), (biased(quiet), small, "old: "), (quiet, biased(small), "new: ")
    ):  # fmt: skip
        report = compare_runs(*pair(old, new), None)
        assert compared(report).verdict in ("slower", "materially slower")
        told = [text for text in notices(report) if "control differs from itself" in text]
        assert [text.startswith(whose) for text in told] == [True] * bool(whose)


def test_runs_without_canaries_are_compared_by_their_blocks_alone() -> None:
    runs = pair(noisy(), noisy({"node": 1.2}), canary=None)
    assert compared(compare_runs(*runs, None)).verdict == "materially slower"


def test_unequal_numbers_of_blocks_are_compared_by_the_fewer() -> None:
    old = run(planned("old", blocks=40))
    new = run(planned("new", blocks=12), noisy({"node": 1.2, "canary": 1.2}))
    report = compare_runs(old, new, None)
    assert (compared(report).blocks, compared(report).verdict) == (12, "materially slower")
    assert (report.blocks_planned, report.blocks_complete) == (12, 12)
    few = run(planned("new", blocks=9), noisy({"node": 1.2, "canary": 1.2}))
    assert compared(compare_runs(old, few, None)).verdict == "not testable"


def test_only_cases_of_both_runs_are_compared() -> None:
    old = run(planned("old", cases=[case("a"), case("b")]))
    new = run(planned("new", cases=[case("b"), case("c")]))
    assert [c.id for c in compare_runs(old, new, None).cases] == ["b"]


def counted(operations: int, *names: str) -> Json:
    return {name: {"node": counts(operations)} for name in names}


def test_runs_of_which_one_took_turns() -> None:
    cases = [case("startup"), case("get-pk")]
    turns = {"get-pk": {"node": counts(10, rounds=5)}}
    old = run(planned("old", cases=cases, counts=counted(10, "get-pk")))
    new = run(planned("new", cases=cases, counts=turns))
    told = (
        "in get-pk the processes of new took turns, and those of old ran one after the other, "
        "which changes times by itself. Measure both runs with the same --scheme, or both sides "
        "in one run with `./just compare BASE NEW`."
    )
    assert why(old, new) == told
    assert why(new, old) == told
    again = run(planned("old", cases=cases, counts=turns))
    assert len(compare_runs(again, new, None).cases) == 2


def test_runs_of_which_one_kept_single_threads_on_one_processor() -> None:
    cases = [case("get-pk"), case("parallel", workers=2)]
    turns = {name: {"node": counts(10, rounds=5)} for name in ("get-pk", "parallel")}
    free = run(planned("old", cases=cases, counts=turns))
    bound = run(planned("new", cases=cases, counts=turns, processor=1))
    told = (
        "in get-pk only new kept the thread that did the work on one processor, which changes "
        "times by itself. Measure both runs with this version of sqlitmus, or both sides in one "
        "run with `./just compare BASE NEW`."
    )
    assert why(free, bound) == told
    assert why(bound, free) == told
    other = run(planned("old", cases=cases, counts=turns, processor=0))
    assert len(compare_runs(other, bound, None).cases) == 2


def test_facts_of_the_two_are_beside_each_other() -> None:
    facts = {f.name: f for f in compare_runs(*pair(), None).provenance}
    version = next(f for f in facts.values() if f.differs)
    assert [value.rpartition(" ")[2] for value in version.values.values()] == ["1.0", "2.0"]
    assert list(version.values) == [BASE, NEW]


def test_secondary_figures_have_no_verdicts() -> None:
    # bun, since a run's own reference has none anyway
    for cell in compare_runs(*pair(), "bun").cases[0].cells:
        assert {"cold", "cpu", "peak_rss"} <= set(cell.figures)
        for measure in cell.figures.values():
            assert measure.contrast is None
        assert (cell.overhead, cell.overhead_verdict) == (None, None)


# refused ----------------------------------------------------------------------------------------


def why(old: RunData, new: RunData, runner: str | None = None) -> str:
    with refused() as told:
        compare_runs(old, new, runner)
    return str(told.value)


def test_the_same_run_twice() -> None:
    one = run(planned("old"))
    assert why(one, one, "node") == "both paths are the same run; give two different runs"
    assert why(one, one) == "both paths are the same run; give two different runs"


@pytest.mark.parametrize("fact", ["cpu", "cores", "architecture", "memory", "os", "kernel"])
def test_runs_of_different_machines(fact: str) -> None:
    given = {"kernel": "6.1", fact: "another"}
    told = why(run(planned("old"), kernel="6.1"), run(planned("new"), None, **given))
    was = {"kernel": "6.1", **MACHINE}[fact]
    assert told == (
        f"the runs are of different machines: {fact} is {was} in old and another in new. Times of "
        "different machines are not compared; measure both on one."
    )


def test_a_fact_that_only_one_machine_told() -> None:
    told = why(run(planned("old")), run(planned("new"), kernel="6.1"))
    assert told.startswith("the runs are of different machines: kernel is unknown in old and 6.1")


def test_other_facts_of_the_machine_may_differ() -> None:
    old, new = planned("old"), planned("new")
    report = compare_runs(
        run(old, None, **{"load at start": "0.1"}), run(new, None, **{"load at start": "0.9"}), None
    )
    assert report.run == "new"


def test_fixtures_of_different_sizes() -> None:
    told = why(run(planned("old", size="s")), run(planned("new", size="m")))
    assert told == OTHER_WORK.format("fixture size")


def test_no_case_in_common() -> None:
    told = why(run(planned("old", cases=[case("a")])), run(planned("new", cases=[case("b")])))
    assert told == "the two runs have no case in common; compare runs of the same suite"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sql", ["SELECT 2"]),
        ("workers", 3),
    ],
)
def test_a_case_that_is_other_work(name: str, value: object) -> None:
    changed = [case("a"), case("b", **{name: value})]
    told = why(
        run(planned("old", cases=[case("a"), case("b")])), run(planned("new", cases=changed))
    )
    assert told == OTHER_WORK.format(f"{name} of b")


def test_no_common_runner() -> None:
    old, new = run(planned("old", ("node",))), run(planned("new", ("bun",)))
    told = "; choose with -r one of none (no runner is in both)"
    assert why(old, new) == f"which runner is meant is not clear: none changed{told}"
    assert why(old, new, "bun") == f"which runner is not in both runs: none changed{told}"


def test_it_is_not_clear_which_runner_is_meant() -> None:
    old, new = planned("old"), planned("new")
    new["runners"][1]["description"] = description("bun", sqlite="3.52.0")
    told = why(run(old), run(new))
    assert told == (
        "which runner is meant is not clear: node and bun changed; choose with -r one of node, "
        "bun, rust-ffi"
    )
    assert compare_runs(run(old), run(new), "bun").reference == "bun in old"


def test_a_runner_that_is_missing_in_one_run_is_in_one_only() -> None:
    def gone(of: Json) -> Json:
        missing = {"missing": "not installed", "description": None}
        of["runners"] = [{**r, **missing} if r["name"] == "bun" else r for r in of["runners"]]
        return of

    report = compare_runs(run(planned("old")), run(gone(planned("new"))), None)
    assert "Controls that stayed unchanged (rust-ffi) show" in headline(report)[0]
    assert "which runner is not in both runs" in why(
        run(planned("old")), run(gone(planned("new"))), "bun"
    )


@pytest.mark.parametrize("name", ["scenario get-pk", "fixture users"])
def test_definitions_that_changed_between_the_runs(name: str) -> None:
    hashes = {"scenario get-pk": "1", "fixture users": "1"}
    cases = [case("get-pk", fixture="users")]
    old = run(planned("old", definitions=hashes, cases=cases))
    new = run(planned("new", definitions={**hashes, name: "2"}, cases=cases))
    assert why(old, new) == OTHER_WORK.format(name)


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
    ("text", "message"),
    [
        ("nod", "there is no runner 'nod'; did you mean node?"),
        (
            "",
            "there is no runner ''; expected one of node, node-better-sqlite3, rust, rust-ffi",
        ),
        ("rust-fi+a=1", "there is no runner 'rust-fi'; did you mean rust-ffi or rust?"),
        ("node@", "no version after node@"),
        ("node=", "no path after node="),
        ("node=+threading=x", "no path after node="),
        ("node@file:../evil", "'file:../evil' is no version and no range of npm's"),
        ("node@-g", "'-g' is no version and no range of npm's"),
        ("node@24+threading", "'24+threading' is no version and no range of npm's"),
        ("rust+threading", "+threading has no value"),
        ("rust+threading=", "+threading= has no value that is a word"),
        ("rust+threading=a b", "+threading=a b has no value that is a word"),
        ("rust+a=1+a=2", "+a is given twice; keep one"),
    ],
)
def test_texts_that_name_none_are_told_with_examples(text: str, message: str) -> None:
    with refused() as raised:
        parse(text, RUNNERS)
    end = "" if "twice" in message else f"; {EXPECTED}"
    assert str(raised.value) == f"{text!r}: {message}{end}"


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


def test_another_package_is_named_in_the_environment_and_among_the_sources() -> None:
    asked = Subject("node", version="13.1.1")
    made, tools = subject.derive(NODE, asked, "node@13.1.1", TOOLS, package=Path("/v/a b"))
    assert (made.name, made.title) == ("node@13.1.1", "Node · node:sqlite, 13.1.1")
    assert made.environment == {"A": "b", "SQLITMUS_BETTER_SQLITE3": "file:///v/a%20b/"}
    assert made.sources == [".", "/v/a b"]
    assert (made.command, made.tool, tools) == (NODE.command, "node", TOOLS)


def test_engine_options_are_added_to_the_runners_own() -> None:
    base = NODE.model_copy(update={"engine": {"a": 1, "b": 2}})
    asked = Subject("node", engine={"b": 3, "c": "x"})
    made, _ = subject.derive(base, asked, str(asked), TOOLS)
    assert made.engine == {"a": 1, "b": 3, "c": "x"}
    assert made.title == "Node · node:sqlite, b=3+c=x"


def test_the_variable_is_the_one_that_the_driver_reads() -> None:
    driver = Path(__file__).parents[3] / "runners/javascript/drivers/driver.js"
    assert re.findall(r"\"(SQLITMUS_\w+)\"", driver.read_text("utf-8")) == [
        subject.PACKAGE_VARIABLE
    ]


def context(folder: Path, *files: str) -> Context:
    """One whose PATH is `folder`, which holds `files`."""
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
        file.chmod(0o755)
    return Context(folder, folder, Settings.load(), {"PATH": str(folder)})


def test_npm_is_started_by_its_own_file(tmp_path: Path) -> None:
    assert subject.program(context(tmp_path, "npm", "node")) == [str(tmp_path / "npm")]


def test_without_npm_the_hint_is_told(tmp_path: Path) -> None:
    with unfit("versions are fetched with npm: npm not found"):
        subject.program(context(tmp_path))


def test_the_batch_file_of_windows_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path, "npm.CMD", "node", "node_modules/npm/bin/npm-cli.js")
    found = {"npm": tmp_path / "npm.CMD", "node": tmp_path / "node"}
    monkeypatch.setattr(Context, "find", lambda _self, tool: found.get(tool))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    script = tmp_path / "node_modules" / "npm" / "bin" / "npm-cli.js"
    assert subject.program(here) == [str(tmp_path / "node"), str(script)]
    script.unlink()
    assert subject.program(here) == [str(tmp_path / "npm.CMD")]
