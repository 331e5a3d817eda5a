"""`./just workload`: from a file to a recommendation, with the user's database as it was."""

import json
import os
import signal
import tomllib
from pathlib import Path

import pytest

from tests.cli.calling import data
from tests.cli.test_interrupt import let_go, resume, under_way
from tests.fakes.clone import Clone
from tests.workload.conftest import make

MARKER = "owner-3"  # a value that is in the database and nowhere else
FILE = data("workload.toml")


@pytest.fixture
def service(clone: Clone) -> Clone:
    make(clone.root / "app.db")
    clone.write("my.toml", FILE)
    return clone


def everything(folder: Path) -> bytes:
    """All that lies in a folder, links not followed."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return b"\n".join(file.read_bytes() for file in files)


def test_a_file_becomes_a_recommendation(service: Clone) -> None:
    service.runner("a")
    service.runner("b")
    before = (service.root / "app.db").read_bytes()
    done = service.sqlitmus("workload", "my.toml", "--blocks", "1")
    assert done.code == 0, done.err
    assert "foreign_keys as the driver has it\n" in done.err
    text = " ".join(done.out.split())
    decided = "For this workload, too few blocks for a verdict: 1 of 10."
    assert f"{decided} Calls: 75 % one and 25 % add; 2 workers." in text
    assert "tied" not in text
    plan = service.latest().plan()
    assert [case.id for case in plan.cases] == ["one", "add", "start", "mix", "mix@workers=2"]
    assert plan.workload
    assert plan.workload.file == "my.toml"
    assert (service.root / "app.db").read_bytes() == before
    assert sorted(file.name for file in service.root.glob("app.db*")) == ["app.db"]
    done = service.sqlitmus("report", "--format", "json")
    (said,) = [s for s in json.loads(done.out)["headline"] if s["kind"] == "recommendation"]
    assert said["shares"] == {"one": 0.75, "add": 0.25}
    assert said["ranking"]["front"] == []


def test_the_report_says_which_runners_bind_by_the_names_in_the_sql(service: Clone) -> None:
    service.runner("a")
    service.core()
    file = FILE.replace("workers = 2", "workers = 1").replace("owner = ?", "owner = $owner")
    service.write("my.toml", file)
    done = service.sqlitmus("workload", "my.toml", "--blocks", "1")
    assert done.code == 0, done.err
    one, add, *_, mix = service.latest().plan().cases
    assert one.sql == ["SELECT id, title FROM document WHERE owner = $owner LIMIT 1"]
    said = "by the names in the SQL, but by place with core, which binds no value by name."
    assert one.notes[-1] == mix.notes[-1] == f"Values are bound {said}"
    assert not [note for note in add.notes if "by name" in note]


def test_a_budget_that_is_too_small_keeps_the_mix_and_says_what_it_leaves_out(
    service: Clone,
) -> None:
    service.runner("a")
    service.runner("b")
    done = service.sqlitmus("workload", "my.toml", "--mode=piloted", "--time-budget=1s")
    assert done.code == 0, done.err
    words = "no room for 10 blocks of all cases: measured in the mix, and not by themselves, are"
    assert f"the time budget has {words} add and one\n" in done.err
    plan = service.latest().plan()
    assert [case.id for case in plan.cases] == ["start", "mix", "mix@workers=2"]
    memory = "".join(f.read_text("utf-8") for f in service.root.glob("toolchain/**/cells.json"))
    assert memory.count('"Observed"') == 6  # of these; nobody waits for a pilot of the queries
    assert plan.left_out == ["add", "one"]
    assert "For this workload" in done.out


def test_values_of_the_database_stay_where_they_are(service: Clone) -> None:
    service.runner("a")
    service.runner("lies", "wrong-checksum")
    assert service.sqlitmus("workload", "my.toml", "--blocks", "1").code == 5
    assert MARKER.encode() not in everything(service.latest().path)
    toolchain = service.root / "toolchain"
    assert not [file for file in toolchain.rglob("*.db") if MARKER.encode() in file.read_bytes()]
    again = ("workload", "my.toml", "--blocks", "1", "--fresh", "--show-values")
    assert service.sqlitmus(*again).code == 5
    assert MARKER.encode() in everything(service.latest().path)


def test_verify_runs_what_is_measured_with_its_workers_and_measures_nothing(
    service: Clone,
) -> None:
    service.runner("a")
    service.runner("b", "fails-after=0")
    service.runner("lies", "wrong-checksum")
    before = (service.root / "app.db").read_bytes()
    done = service.sqlitmus("workload", "verify", "my.toml", "-f", "mix", "-f", "one/lies")
    assert done.code == 5, done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].startswith("wrong one/lies: operation ")
    assert lines[0].endswith("; all columns have values of the oracle's types")
    assert lines[1].startswith("ok mix/a")
    assert lines[2].startswith("ok mix/b")
    assert lines[4].startswith("ok mix@workers=2/a")
    assert lines[5].startswith("failed mix@workers=2/b: with 2 workers: ")
    assert lines[6].startswith("wrong mix@workers=2/lies: operation ")
    assert not (service.root / "results").exists()
    assert (service.root / "app.db").read_bytes() == before
    toolchain = service.root / "toolchain"
    assert not [f for f in toolchain.rglob("*.job.json") if MARKER.encode() in f.read_bytes()]


def test_a_trace_becomes_a_recommendation_without_its_values(service: Clone) -> None:
    service.runner("a")
    get = "SELECT id, title FROM document WHERE owner = ? LIMIT 1"
    lines = [
        *({"sql": get, "parameters": [f"owner-{n}"]} for n in (3, 4, 3)),
        {"sql": "BEGIN"},
        {"sql": "INSERT INTO event(document, at) VALUES (?, ?)", "parameters": [1, 2]},
        {"sql": "COMMIT"},
    ]
    service.write("app.jsonl", "\n".join(map(json.dumps, lines)))
    service.write("my.toml", 'database = "app.db"\ntrace = "app.jsonl"\n')
    done = service.sqlitmus("workload", "my.toml", "--blocks", "1")
    assert done.code == 0, done.err
    mix = "Calls: 75 % select-document and 25 % in-transaction-insert-event; 1 worker."
    assert mix in " ".join(done.out.split())
    assert MARKER.encode() not in everything(service.latest().path)


def test_a_bad_line_of_a_trace_ends_it_before_anything_runs(service: Clone) -> None:
    service.write("app.jsonl", '{"sql": "SELECT 1"}\n{"sql": 1}\n')
    service.write("my.toml", 'database = "app.db"\ntrace = "app.jsonl"\n')
    done = service.sqlitmus("workload", "my.toml")
    assert (done.code, "CLONE/app.jsonl:2: sql: " in done.err) == (2, True), done.err


RATES = """
rates = [400]
limits.p99_ms = {most}
"""


@pytest.mark.parametrize(("most", "front"), [("0.001", []), ("60_000", ["a"])])
def test_a_p99_at_a_rate_is_told_and_holds_runners_to_a_limit(
    service: Clone, most: str, front: list[str]
) -> None:
    service.runner("a")
    text = FILE.replace("[query.one]", f"{RATES.format(most=most)}[query.one]", 1)
    service.write("my.toml", text)
    done = service.sqlitmus("workload", "my.toml", "--blocks", "1", "-f", "mix", "-f", "at-400")
    assert done.code == 0, done.err
    done = service.sqlitmus("report", "--format", "json")
    (said,) = [s for s in json.loads(done.out)["headline"] if s["kind"] == "recommendation"]
    assert said["ranking"]["front"] == front
    (latency,) = said["latencies"]
    assert (latency["case"], latency["rate"], latency["queries"]) == ("at-400", 400, 4)
    assert latency["p99"]["a"]["value"] > 0
    words = "a is left out: its p99 of a round at 400 queries a second is "
    text = " ".join(service.sqlitmus("report", "--format", "text").out.split())
    assert (words in text) == (not front)


def test_a_sample_is_measured_and_its_run_says_so(service: Clone) -> None:
    service.runner("a")
    (service.root / "app.db").unlink()
    make(service.root / "app.db", rows=5000)
    before = (service.root / "app.db").read_bytes()
    done = service.sqlitmus("workload", "my.toml", "--blocks", "1", "--sample", "100", "-f", "one")
    assert done.code == 0, done.err
    plan = service.latest().plan()
    assert plan.workload
    assert plan.workload.sample == 100
    assert plan.workload.database.startswith("app.db (a sample of ")
    assert plan.rerun == "./just workload my.toml --blocks 1 --sample 100 -f one"
    assert (service.root / "app.db").read_bytes() == before
    done = service.sqlitmus("workload", "my.toml", "--sample", "some")
    assert (done.code, "--sample 'some': expected rows" in done.err) == (2, True)


def test_init_writes_a_file_that_can_be_measured(service: Clone) -> None:
    service.runner("a")
    done = service.sqlitmus("workload", "init", "new.toml", "--database", "app.db")
    assert done.out == (
        "CLONE/new.toml: correct the queries and their weights, then: ./just workload new.toml\n"
    )
    done = service.sqlitmus("workload", "new.toml", "--blocks", "1")
    assert done.code == 0, done.err
    done = service.sqlitmus("workload", "init", "new.toml", "--database", "app.db")
    assert (done.code, "is there already" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("init", "x.toml"), "init takes a file and a database: init my.toml --database app.db"),
        (("my.toml", "other.toml"), "expected one FILE, verify FILE, or init FILE --database"),
        (("verify",), "expected one FILE, verify FILE, or init FILE --database DATABASE"),
        (("verify", "absent.toml"), "CLONE/absent.toml: cannot be read: No such"),
        (("absent.toml",), "CLONE/absent.toml: cannot be read: No such file"),
    ],
)
def test_what_makes_no_sense_is_refused(
    service: Clone, arguments: tuple[str, ...], message: str
) -> None:
    done = service.sqlitmus("workload", *arguments)
    assert done.code == 2
    assert message in done.err


SAID = {
    table: [(row["text"], row["says"]) for row in rows]
    for table, rows in tomllib.loads(data("workloads.toml")).items()
}


@pytest.mark.parametrize(("text", "message"), SAID["fault"])
def test_a_fault_ends_it_at_once_with_the_database_as_it_was(
    service: Clone, text: str, message: str
) -> None:
    service.write("my.toml", f'database = "app.db"\n{text}\n')
    before = (service.root / "app.db").read_bytes()
    done = service.sqlitmus("workload", "my.toml")
    assert (done.code, message in done.err) == (2, True), done.err
    assert (service.root / "app.db").read_bytes() == before
    assert sorted(file.name for file in service.root.glob("app.db*")) == ["app.db"]
    assert not [*(service.root / "toolchain" / "databases").rglob("*.db")]


NESTED = "CLONE/my.toml: it is nested deeper than 64 levels; take the brackets or dots out"
HOSTILE = [
    *SAID["hostile"],
    (f"a = {'[' * 20_000}{']' * 20_000}", NESTED),
    (f"{'.'.join('a' * 100)} = 1", NESTED),
    (
        f"seed = {'9' * 5000}",
        (
            "CLONE/my.toml: not TOML: an integer has thousands of digits, and SQLite's have 64 "
            "bits; correct it"
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE, ids=lambda text: text[-40:])
def test_what_would_fill_the_memory_or_break_python_is_refused(
    service: Clone, text: str, message: str
) -> None:
    service.write("my.toml", f'database = "app.db"\n{text}\n')
    done = service.sqlitmus("workload", "verify", "my.toml")
    assert (done.code, done.out, done.err) == (2, "", f"sqlitmus: {message}\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("name", ["my.toml", "app.db", "app.jsonl"])
def test_a_pipe_under_the_name_of_a_file_is_refused(service: Clone, name: str) -> None:
    service.write("my.toml", 'database = "app.db"\ntrace = "app.jsonl"\n')
    service.write("app.jsonl", '{"sql": "SELECT 1"}\n')
    (service.root / name).unlink()
    os.mkfifo(service.root / name)
    done = service.sqlitmus("workload", "verify", "my.toml")
    assert (done.code, done.out, done.err) == (
        *(2, ""),
        (
            f"sqlitmus: CLONE/{name}: cannot be read: it is a pipe or a device; give the path of a "
            "file\n"
        ),
    )


def test_a_byte_order_mark_before_the_toml_is_read_over(service: Clone) -> None:
    service.runner("a")
    service.write("my.toml", f"\ufeff{FILE.strip()}")
    done = service.sqlitmus("workload", "verify", "my.toml")
    assert done.code == 0, done.err


def test_an_interrupted_workload_goes_on_unless_its_database_changed(service: Clone) -> None:
    service.runner("a")
    service.runner("waits", "waits=2")
    process = under_way(service, "workload", "my.toml", "--blocks", "2")
    process.send_signal(signal.SIGINT)
    let_go(service)
    assert service.finish(process).code == 130
    before = (service.root / "app.db").read_bytes()
    make(service.root / "other.db", rows=90)
    (service.root / "other.db").replace(service.root / "app.db")
    done = resume(service)
    assert done.code == 2
    assert "cannot be resumed: " in done.err
    assert "fixture workload" in done.err
    (service.root / "app.db").write_bytes(before)
    done = resume(service)
    assert done.code == 0, done.err
    assert {s.outcome for s in service.samples()} == {"ok"}
    plan = service.latest().plan()
    assert {s.block for s in service.samples()} == {*range(plan.blocks)}
