"""A workload as scenarios: what is measured, how often, and how writes are undone."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import example_database
from sqlitmus.workload import scenarios, statements
from sqlitmus.workload.scenarios import LEAST, at_rate
from tests import left_out
from tests.faults.stage import Stage
from tests.known import KNOWN, ROOT, case_of
from tests.refusals import unfit
from tests.workload.making import Service

pytestmark = pytest.mark.usefixtures("database")

SERVICE = """
workers = 4
[query.read]
weight = 16
operation = "get"
sql = "SELECT id, title FROM document WHERE id = ?"
parameters = "SELECT id FROM document ORDER BY random() LIMIT 64"
[query.list]
weight = 3
sql = "SELECT id, size FROM document WHERE owner = ? ORDER BY id LIMIT 50"
parameters = "SELECT DISTINCT owner FROM document"
[query.add]
weight = 1
transaction = "immediate"
statements = [
    { sql = "INSERT INTO event(document) VALUES (?)", parameters = "SELECT id FROM document" },
    { sql = "UPDATE word SET hits = 2 WHERE word = 'a'" },
]
"""


def test_each_query_is_a_scenario_beside_the_mix_and_the_start(service: Service) -> None:
    whole = service.made(SERVICE).catalogue
    assert {name: spec.group for name, spec in whole.scenarios.items()} == {
        **dict.fromkeys(("read", "list", "add"), "queries"),
        "start": "start-up",
        "mix": "mix",
    }
    reading, listing, add, start, mix = whole.scenarios.values()
    assert (reading.steps[0].operation, listing.steps[0].operation) == ("get", "all")
    assert listing.steps[0].columns == {"id": "integer", "size": "real?"}
    assert not reading.writes
    assert start.metric == "cold"
    # as often as its weight says
    assert [(s.operation, s.repeat, s.sql) for s in mix.steps] == [
        *(("get", 16, reading.steps[0].sql), ("all", 3, listing.steps[0].sql)),
        ("execute", 1, "BEGIN IMMEDIATE"),
        *(("run", 1, step.sql) for step in add.steps),
        ("execute", 1, "COMMIT"),
    ]
    assert (mix.per_operation, mix.axes["workers"]) == (20, ["1", "4"])
    assert mix.order_decides == ["rows", "checksum"]
    # inserted rows go again, and what tables hold is read back
    assert add.reset == [
        'DELETE FROM "event" WHERE rowid > 50',
        "UPDATE sqlite_sequence SET seq = 50 WHERE name = 'event'",
    ]
    assert [query.sql.rpartition(" ")[2] for query in add.readback] == ['"event"', '"word"']
    assert add.reset_every == 48, "all that a process does: its documents suffice"
    # what writes would depend on the machine's pace, were it warmed up by time
    warm = {name for name in whole.scenarios if case_of(name, whole).warmup_ms}
    assert warm == {"read", "list"}


NUMBERS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4096) SELECT i FROM n"
)
SMALL = "INSERT INTO event(document) VALUES (?)"
LARGE = "INSERT INTO document(owner, title, size, body) VALUES (?, '', 0, zeroblob(100000))"


def checkpoints(database: Path, sql: str, times: int) -> list[int]:
    """After which operations the log began anew, of so many in a copy in write-ahead mode."""
    copy = Path(shutil.copy(database, database.with_name("plain.db")))
    log, salts = copy.with_name("plain.db-wal"), list[bytes]()
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for number in range(times):
            connection.execute(sql, [number])
            with log.open("rb") as file:
                salts.append(file.read(24)[16:])
    return [number for number in range(1, times) if salts[number] != salts[number - 1]]


def work_of(service: Service, text: str) -> tuple[int, int]:
    """Operations of the warm-up of query `a`, and of a half of what is timed."""
    query = service.made(text).scenarios["a"]
    assert query.warmup_operations
    assert query.timed_operations
    assert query.reset_every == query.warmup_operations + query.timed_operations
    return query.warmup_operations, query.timed_operations // 2


LARGE_OF = "INSERT INTO document(owner, title, size, body) VALUES (?, '', 0, zeroblob({}))"


@pytest.mark.parametrize(
    "sql", [SMALL, *map(LARGE_OF.format, (3000, 30_000, 100_000, 400_000, 1_500_000, 3_000_000))]
)
def test_each_half_of_what_is_timed_has_as_many_checkpoints(
    service: Service, database: Path, sql: str
) -> None:
    text = f'[query.a]\nsql = "{sql}"\nparameters = "{NUMBERS}"\n'
    begin, half = work_of(service, text)
    reached = checkpoints(database, sql, begin + 2 * half)
    halves = [(number - begin) // half for number in reached]
    assert halves.count(0) == halves.count(1) >= 1
    assert min(halves) < 0, "the log had begun anew before"


ADD = f"""
[query.read]
weight = 9
operation = "get"
sql = "SELECT id, title FROM document WHERE id = ?"
parameters = "SELECT id FROM document"
[query.add]
weight = 1
sql = "{LARGE}"
"""


def test_the_mix_says_which_query_needs_more_rows_for_checkpoints(service: Service) -> None:
    def notes(rows: int) -> list[str]:
        numbers = NUMBERS.replace("4096", str(rows))
        return service.made(f'{ADD}parameters = "{numbers}"\n').scenarios["mix"].notes

    (words,) = notes(64)
    match = re.fullmatch(
        r"Two checkpoints would be timed if add had ([0-9,]+) rows of parameters instead of 64\.",
        words,
    )
    assert match
    enough = int(match[1].replace(",", ""))
    assert notes(enough - 1)
    assert not notes(enough)


@pytest.mark.parametrize(
    ("above", "parameters", "warmups"),
    [("", "SELECT id FROM document", 2), ('profile = "durable"\n', NUMBERS, 0.5)],
)
def test_where_a_checkpoint_takes_too_many_rows_or_too_long_there_is_none(
    service: Service, database: Path, above: str, parameters: str, warmups: float
) -> None:
    """Without a sync at each commit, the warm-up is twice as long as what is timed."""
    text = f'{above}[query.a]\nsql = "{LARGE}"\nparameters = "{parameters}"\n'
    begin, half = work_of(service, text)
    assert begin == warmups * 2 * half
    assert not checkpoints(database, LARGE, begin + 2 * half)


A = '[query.a]\nsql = "'


def test_what_the_workload_inserts_may_hold_null(service: Service) -> None:
    events = '[query.events]\nsql = "SELECT id, document, at, count(*) AS n FROM event"\n'
    add = '[query.add]\nsql = "INSERT INTO event(document) VALUES (1)"\n'
    alone, beside = (service.made(text).scenarios["events"] for text in (events, events + add))
    kinds = {"id": "integer", "document": "integer", "at": "integer", "n": "integer"}
    assert alone.steps[0].columns == kinds
    assert beside.steps[0].columns == {**kinds, "at": "integer?", "n": "integer?"}


def test_pragmas_of_ones_own_change_the_profile(service: Service) -> None:
    whole = service.made(f"[pragmas]\nwal_autocheckpoint = 500\nsynchronous = 1\n{READS}").catalogue
    own, normalised = (whole.profiles[name].pragmas for name in ("own", "normalised"))
    changed = {**dict(normalised), "synchronous": 1, "wal_autocheckpoint": 500}
    assert own == [*changed.items()]
    summary = whole.profiles["own"].summary
    assert summary == "as normalised, with wal_autocheckpoint 500, synchronous 1"
    assert whole.scenarios["a"].axes["profile"] == ["own"]


# 100 rows of 8 bytes are one answer
@pytest.mark.parametrize(("bound", "most"), [("BEARABLE", 1000), ("MOST_ANSWERED", 2000)])
def test_a_slow_query_says_how_many_rows_are_bound(
    service: Service, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(statements, bound, most)
    text = f'{A}SELECT id FROM document WHERE id > ?"\nparameters = [1, 2, 3, 4]\n'
    spec = service.made(text).scenarios["a"]
    assert spec.steps[0].rows == 2
    few = "It takes so long, or gives so much, that 2 of 4 rows of parameters are bound."
    assert spec.notes == [few]


@pytest.mark.parametrize(
    ("weights", "parts"),
    [
        ([80, 15, 5], [16, 3, 1]),
        ([0.8, 0.15, 0.05], [80, 15, 5]),
        ([1000, 1], [100, 1]),
        ([1 / 3, 1 / 3, 1 / 3], [33, 33, 33]),
    ],
)
def test_weights_become_small_whole_parts(
    service: Service, weights: list[float], parts: list[int]
) -> None:
    queries = [
        f'[query.q{n}]\nweight = {weight}\nsql = "SELECT {n} AS n"\n'
        for n, weight in enumerate(weights)
    ]
    mix = service.made("\n".join(queries)).scenarios["mix"]
    assert [step.repeat for step in mix.steps] == parts


READS = '[query.a]\nsql = "SELECT id FROM document"\n'
WRITES = '[query.a]\nsql = "INSERT INTO event(document) VALUES (1)"\n'


@pytest.mark.parametrize(
    ("text", "free", "runners", "fits"),
    [(READS, 2, 9, True), (WRITES, 12, 9, True), (WRITES, 11, 9, False), (WRITES, 4, 1, True)],
)
def test_a_workload_that_writes_needs_a_copy_for_each_runner(
    service: Service,
    database: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    free: int,
    runners: int,
    *,
    fits: bool,
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(service.folder / "toolchain"))
    size = database.stat().st_size

    def usage(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free * size)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    file = service.write(text)
    if fits:
        writing = scenarios.read(file, KNOWN, runners=runners).planned.writing
        assert writing == ["a"] * (text == WRITES)
    else:
        with unfit("12 copies have to fit on the disk"):
            scenarios.read(file, KNOWN, runners=runners)
        assert not [*(service.folder / "toolchain").rglob("*.db")]


BRIEFLY = ("--mode", "smoke", "--blocks", "2")  # without a pilot


def test_the_example_becomes_a_recommendation(tmp_path: Path, hyperfine_program: str) -> None:
    for name in ("rust", "node"):
        left_out.tool(name)
    clone = Stage(tmp_path, hyperfine_program).real()
    shutil.copy(ROOT / "docs/workload/app.toml", clone.root / "app.toml")
    example_database.write(clone.root / "app.db", 400)
    before = (clone.root / "app.db").read_bytes()
    done = clone.sqlitmus("workload", "app.toml", "-r", "rust", "-r", "node", *BRIEFLY)
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    decided = "For this workload, too few blocks for a verdict: 2 of 10."
    mix = "80 % document, 10 % recent, 5 % words and 5 % visit; 4 workers"
    assert f"{decided} Calls: {mix}." in text
    assert "tied" not in text
    assert clone.outcomes() == {"node": "ok", "rust": "ok"}
    assert (clone.latest().path / "report.html").exists()
    assert (clone.root / "app.db").read_bytes() == before


def test_the_mix_is_timed_at_each_rate_by_all_workers(service: Service) -> None:
    whole = service.made(f"rates = [2000, 50_000]{SERVICE}").scenarios
    assert list(whole) == ["read", "list", "add", "start", "mix", "at-2000", "at-50000"]
    slow, fast, mix = whole["at-2000"], whole["at-50000"], whole["mix"]
    assert (slow.group, slow.latencies, slow.fixed) == ("keeping up", True, True)
    assert (slow.steps, slow.axes["workers"]) == (mix.steps, ["4"])
    # a round has 20 queries, and each of 4 workers does a quarter of them
    assert [slow.rate, fast.rate] == [2000 / 20 / 4, 50_000 / 20 / 4]
    assert (mix.rate, mix.latencies) == (None, False)
    # without a rate, a limit has rounds timed one after the other
    limited = service.made(SERVICE.replace("workers = 4", "workers = 4\n[limits]\np99_ms = 5"))
    *_, (name, latency) = limited.scenarios.items()
    assert (name, latency.group, latency.rate) == ("latency", "timed rounds", None)
    assert latency.iterations
    assert latency.operations * latency.iterations >= LEAST


def test_a_single_query_is_a_mix_of_its_own(service: Service) -> None:
    text = 'rates = [100]\n[query.only]\nsql = "SELECT id FROM document LIMIT 3"\n'
    assert list(service.made(text).scenarios) == ["only", "start", "at-100"]


@pytest.mark.parametrize(("rounds", "most"), [(20, None), (333, 4), (2500, None), (90_000, 64)])
def test_a_process_times_enough_rounds(rounds: float, most: int | None) -> None:
    counts = at_rate(rounds, 4, most)
    assert counts.operations * counts.iterations >= max(LEAST, rounds / 2)
    assert counts.operations <= (most or 2048)
    seconds = counts.operations * counts.iterations / rounds
    assert seconds < 5.5
