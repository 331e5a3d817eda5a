"""`./just workload`: from a file to a recommendation, with the user's database as it was."""

import json
import os
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import data
from tests.cli.test_interrupt import cut_off, resume
from tests.fakes.clone import Clone, Done
from tests.workload.conftest import make

MARKER = b"owner-3"  # a value that is in the database and nowhere else
FILE = data("workload.toml")
RUN = ("workload", "my.toml", "--blocks", "1")
TRACED = 'database = "app.db"\ntrace = "app.jsonl"\n'


@pytest.fixture
def service(clone: Clone) -> Clone:
    make(clone.root / "app.db")
    clone.write("my.toml", FILE)
    clone.runner("a")
    return clone


@contextmanager
def untouched(clone: Clone) -> Generator[None]:
    """The user's database is afterwards as it was, with nothing beside it."""
    before = (clone.root / "app.db").read_bytes()
    yield
    assert (clone.root / "app.db").read_bytes() == before
    assert [file.name for file in clone.root.glob("app.db*")] == ["app.db"]


def done_of(clone: Clone, *arguments: str, code: int = 0) -> Done:
    """A command that ends with this code."""
    done = clone.sqlitmus(*arguments)
    assert done.code == code, done.err
    return done


def recommended(clone: Clone) -> dict[str, Any]:
    """What the newest run's report recommends, as JSON."""
    report = json.loads(clone.sqlitmus("report", "--format", "json").out)
    (said,) = [said for said in report["headline"] if said["kind"] == "recommendation"]
    return said


def holding(folder: Path, pattern: str = "*") -> list[str]:
    """The files below a folder that hold the marker, links not followed."""
    files = [file for file in folder.rglob(pattern) if file.is_file()]
    return [file.name for file in files if MARKER in file.read_bytes()]


def test_a_file_becomes_a_recommendation(service: Clone) -> None:
    service.runner("b")
    with untouched(service):
        done = done_of(service, *RUN)
    assert "foreign_keys as the driver has it\n" in done.err
    text = " ".join(done.out.split())
    decided = "For this workload, too few blocks for a verdict: 1 of 10."
    assert f"{decided} Calls: 75 % one and 25 % add; 2 workers." in text
    assert "tied" not in text
    plan = service.latest().plan()
    assert [case.id for case in plan.cases] == ["one", "add", "start", "mix", "mix@workers=2"]
    assert plan.workload
    assert plan.workload.file == "my.toml"
    said = recommended(service)
    assert said["shares"] == {"one": 0.75, "add": 0.25}
    assert said["ranking"]["front"] == []


def test_the_report_says_which_runners_bind_by_the_names_in_the_sql(service: Clone) -> None:
    service.core()
    file = FILE.replace("workers = 2", "workers = 1").replace("owner = ?", "owner = $owner")
    service.write("my.toml", file)
    done_of(service, *RUN)
    one, add, *_, mix = service.latest().plan().cases
    assert one.sql == ["SELECT id, title FROM document WHERE owner = $owner LIMIT 1"]
    said = "by the names in the SQL, but by place with core, which binds no value by name."
    assert one.notes[-1] == mix.notes[-1] == f"Values are bound {said}"
    assert not [note for note in add.notes if "by name" in note]


def test_a_budget_that_is_too_small_keeps_the_mix_and_says_so(service: Clone) -> None:
    service.runner("b")
    done = done_of(service, "workload", "my.toml", "--mode=piloted", "--time-budget=1s")
    words = "no room for 10 blocks of all cases: measured in the mix, and not by themselves, are"
    assert f"the time budget has {words} add and one\n" in done.err
    plan = service.latest().plan()
    assert [case.id for case in plan.cases] == ["start", "mix", "mix@workers=2"]
    memory = "".join(f.read_text("utf-8") for f in service.root.glob("toolchain/**/cells.json"))
    assert memory.count('"Observed"') == 6  # of these; nobody waits for a pilot of the queries
    assert plan.left_out == ["add", "one"]
    assert "For this workload" in done.out


def test_values_of_the_database_stay_where_they_are(service: Clone) -> None:
    service.runner("lies", "wrong-checksum")
    done_of(service, *RUN, "-f", "one", code=5)
    assert holding(service.latest().path) == []
    assert holding(service.root / "toolchain", "*.db") == []
    done_of(service, *RUN, "-f", "one", "--fresh", "--show-values", code=5)
    assert holding(service.latest().path) != []


def test_verify_runs_what_is_measured_and_measures_nothing(service: Clone) -> None:
    service.runner("b", "fails-after=0")
    service.runner("lies", "wrong-checksum")
    asked = ("workload", "verify", "my.toml", "-f", "mix", "-f", "one/lies")
    with untouched(service):
        done = done_of(service, *asked, code=5)
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].startswith("wrong one/lies: operation ")
    assert lines[0].endswith("; all columns have values of the oracle's types")
    expected = {
        1: "ok mix/a",
        2: "ok mix/b",
        4: "ok mix@workers=2/a",
        5: "failed mix@workers=2/b: with 2 workers: ",
        6: "wrong mix@workers=2/lies: operation ",
    }
    assert [n for n, start in expected.items() if not lines[n].startswith(start)] == []
    assert not (service.root / "results").exists()
    assert holding(service.root / "toolchain", "*.job.json") == []


def test_a_trace_becomes_a_recommendation_without_its_values(service: Clone) -> None:
    get = "SELECT id, title FROM document WHERE owner = ? LIMIT 1"
    lines = [
        *({"sql": get, "parameters": [f"owner-{n}"]} for n in (3, 4, 3)),
        {"sql": "BEGIN"},
        {"sql": "INSERT INTO event(document, at) VALUES (?, ?)", "parameters": [1, 2]},
        {"sql": "COMMIT"},
    ]
    service.write("app.jsonl", "\n".join(map(json.dumps, lines)))
    service.write("my.toml", TRACED)
    done = done_of(service, *RUN)
    mix = "Calls: 75 % select-document and 25 % in-transaction-insert-event; 1 worker."
    assert mix in " ".join(done.out.split())
    assert holding(service.latest().path) == []
    service.write("app.jsonl", '{"sql": "SELECT 1"}\n{"sql": 1}\n')
    done = done_of(service, *RUN, code=2)
    assert "CLONE/app.jsonl:2: sql: " in done.err


@pytest.mark.parametrize(("most", "front"), [("0.001", []), ("60_000", ["a"])])
def test_a_p99_at_a_rate_is_told_and_holds_runners_to_a_limit(
    service: Clone, most: str, front: list[str]
) -> None:
    rates = f"\nrates = [400]\nlimits.p99_ms = {most}\n[query.one]"
    service.write("my.toml", FILE.replace("[query.one]", rates, 1))
    done_of(service, *RUN, "-f", "mix", "-f", "at-400")
    said = recommended(service)
    assert said["ranking"]["front"] == front
    (latency,) = said["latencies"]
    assert (latency["case"], latency["rate"], latency["queries"]) == ("at-400", 400, 4)
    assert latency["p99"]["a"]["value"] > 0
    words = "a is left out: its p99 of a round at 400 queries a second is "
    text = " ".join(service.sqlitmus("report", "--format", "text").out.split())
    assert (words in text) == (not front)


def test_a_sample_is_measured_and_its_run_says_so(service: Clone) -> None:
    (service.root / "app.db").unlink()
    make(service.root / "app.db", rows=5000)
    with untouched(service):
        done_of(service, *RUN, "--sample", "100", "-f", "one")
    plan = service.latest().plan()
    assert plan.workload
    assert plan.workload.sample == 100
    assert plan.workload.database.startswith("app.db (a sample of ")
    assert plan.rerun == "./just workload my.toml --blocks 1 --sample 100 -f one"


def test_init_writes_a_file_that_can_be_measured(service: Clone) -> None:
    init = ("workload", "init", "new.toml", "--database", "app.db")
    assert done_of(service, *init).out == (
        "CLONE/new.toml: correct the queries and their weights, then: ./just workload new.toml\n"
    )
    done_of(service, "workload", "new.toml", "--blocks", "1")
    assert "is there already" in done_of(service, *init, code=2).err


REFUSED = {
    "init x.toml": "init takes a file and a database: init my.toml --database app.db",
    "my.toml other.toml": "expected one FILE, verify FILE, or init FILE --database",
    "verify": "expected one FILE, verify FILE, or init FILE --database DATABASE",
    "verify absent.toml": "CLONE/absent.toml: cannot be read: No such",
    "absent.toml": "CLONE/absent.toml: cannot be read: No such file",
    "my.toml --sample some": "--sample 'some': expected rows",
}


def test_what_makes_no_sense_is_refused(service: Clone) -> None:
    for typed, message in REFUSED.items():
        assert message in done_of(service, "workload", *typed.split(), code=2).err


SAID = {
    table: [(row["text"], row["says"]) for row in rows]
    for table, rows in tomllib.loads(data("workloads.toml")).items()
}


def test_a_fault_ends_it_at_once_with_the_database_as_it_was(service: Clone) -> None:
    with untouched(service):
        for text, message in SAID["fault"]:
            service.write("my.toml", f'database = "app.db"\n{text}\n')
            assert message in done_of(service, "workload", "my.toml", code=2).err
    assert not [*(service.root / "toolchain" / "databases").rglob("*.db")]


NESTED = "CLONE/my.toml: it is nested deeper than 64 levels; take the brackets or dots out"
DIGITS = "an integer has thousands of digits, and SQLite's have 64 bits; correct it"
HOSTILE = [
    *SAID["hostile"],
    (f"a = {'[' * 20_000}{']' * 20_000}", NESTED),
    (f"{'.'.join('a' * 100)} = 1", NESTED),
    (f"seed = {'9' * 5000}", f"CLONE/my.toml: not TOML: {DIGITS}"),
]


def test_what_would_fill_the_memory_or_break_python_is_refused(service: Clone) -> None:
    for text, message in HOSTILE:
        service.write("my.toml", f'database = "app.db"\n{text}\n')
        done = service.sqlitmus("workload", "verify", "my.toml")
        assert done == Done(2, "", f"sqlitmus: {message}\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("name", ["my.toml", "app.db", "app.jsonl"])
def test_a_pipe_under_the_name_of_a_file_is_refused(service: Clone, name: str) -> None:
    service.write("my.toml", TRACED)
    service.write("app.jsonl", '{"sql": "SELECT 1"}\n')
    (service.root / name).unlink()
    os.mkfifo(service.root / name)
    reason = "cannot be read: it is a pipe or a device; give the path of a file"
    done = service.sqlitmus("workload", "verify", "my.toml")
    assert done == Done(2, "", f"sqlitmus: CLONE/{name}: {reason}\n")


def test_a_byte_order_mark_before_the_toml_is_read_over(service: Clone) -> None:
    service.write("my.toml", f"\ufeff{FILE.strip()}")
    done_of(service, "workload", "verify", "my.toml")


def test_an_interrupted_workload_goes_on_unless_its_database_changed(service: Clone) -> None:
    service.runner("waits", "waits=2")
    cut_off(service, "workload", "my.toml", "--blocks", "2", "-f", "one", "--seed", "11")
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
