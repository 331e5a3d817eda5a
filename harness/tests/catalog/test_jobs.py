"""From a case to a job: what is asked, whether its SQL compiles, and the work that it states."""

# pyright: reportPrivateUsage=false, reportUnknownArgumentType=false

import itertools
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from math import gcd
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.catalog import cases, compiled, fixture, generate, jobs
from sqlitmus.catalog.cases import VERIFIED, PlannedCase, make_case, override_of
from sqlitmus.catalog.generate import bound, column, pool, pool_of
from sqlitmus.catalog.scenario import Generator, Parameter, Scenario, ScenarioStep
from sqlitmus.run.plan.counts import Observed, Turning, allocate, work
from sqlitmus.vocabulary.contract import Features, Job, Parameters, Step, Value
from tests.fakes.clone import Clone
from tests.known import KNOWN, case_of, job_of, read
from tests.refusals import refusal, refused


def rows(job: Job, step: int = 0) -> list[list[Any]]:
    parameters = job.steps[step].parameters
    assert parameters
    return parameters.rows


def test_the_question_is_the_same_for_every_manner_of_asking() -> None:
    """All cases of a scenario ask for the same keys, and of the oracle the same question."""
    plain = job_of("get-pk")
    question = jobs.question(plain)
    assert (question.mode, question.inspect) == ("verify", True)
    step = question.steps[0]
    assert (step.shape, step.integers, step.statement) == ("object", "number", "prepared")
    manners = "shape=array", "integers=bigint", "statement=adhoc", "profile=shipped"
    for manner in (*manners, "transaction=read", "shape=typed", "statement=cached"):
        asked = job_of(f"get-pk@{manner}")
        assert rows(asked) == rows(plain)
        assert jobs.question(asked).steps == question.steps
    assert rows(plain)[:4] != rows(job_of("get-pk", size=900))[:4]


def test_pools_are_drawn_as_scenarios_say() -> None:
    modify = job_of("read-modify-write")
    assert [row[1] for row in rows(modify, 1)] == [row[0] for row in rows(modify)], "same"
    assert {high - low for low, high in rows(job_of("scan-pk-range"))} == {999}, "relative"
    lengths = [len(rows(job_of("delete-pk", size=size))) for size in (100, 10_000)]
    assert lengths == [64, 4096], "no longer than what there is to draw from"
    files = [Path("users.files") / str(key) for (key,) in rows(job_of("blobs"))]
    assert rows(job_of("blobs@from=file")) == [[str(file)] for file in files]
    (step,) = job_of("insert-tuples@many=10").steps
    assert step.sql == f"INSERT INTO integers VALUES {', '.join(['(?)'] * 10)}"
    assert step.parameters
    assert step.parameters.types == ["integer"] * 10
    assert {len(row) for row in step.parameters.rows} == {10}
    assert len({value for row in step.parameters.rows for value in row}) > 2000
    modified = KNOWN.scenarios["read-modify-write"]
    several = {**modified.steps[1].model_dump(), "tuples": 2}
    with pytest.raises(ValueError, match="several tuples cannot have a relative or same"):
        Scenario.model_validate({**modified.model_dump(), "steps": [several]})


def test_blobs_travel_as_hexadecimal_and_big_integers_as_text() -> None:
    assert all(len(bytes.fromhex(row[0])) == 17 for row in rows(job_of("insert-types@value=blob")))
    values = [2**53 - 1, 2**53, -(2**53), b"\xff", None, 0.5]
    texts = [2**53 - 1, "9007199254740992", "-9007199254740992", "ff", None, 0.5]
    assert list(map(generate.encoded, values)) == texts


def test_warm_up_is_the_suites_or_the_runners_longer_one() -> None:
    asked = ("get-pk", 0), ("get-pk", 500), ("startup-first-row", 500)
    warmups = [job_of(case, warmup_ms=ms).measure.warmup_ns for case, ms in asked]
    assert warmups == [KNOWN.modes["quick"].warmup_ms[0] * 10**6, 500_000_000, 0]


def step_of(features: Features | None = None, mode: str = "measure", **changes: Any) -> Step:
    """What a job has of the step of `get-pk` with these changes."""
    spec = KNOWN.scenarios["get-pk"]
    steps = [spec.steps[0].model_copy(update=changes)]
    scenarios = {"get-pk": spec.model_copy(update={"steps": steps})}
    known = KNOWN.model_copy(update={"scenarios": scenarios})
    return job_of("get-pk", mode, known, features=features).steps[0]


def test_wide_integers_are_read_as_the_runner_can() -> None:
    for kinds, manner in ((["number", "bigint"], "bigint"), (["number"], "number")):
        assert step_of(Features(integers=kinds), wide=True).integers == manner


def test_values_are_bound_by_name_as_the_axis_says_whatever_the_runner_has() -> None:
    placed, named = (
        job_of(f"insert-transaction{axis}").steps[0] for axis in ("", "@binding=named")
    )
    assert (placed.names, named.names) == ([], ["@a", "@b", "@c", "@d"])
    assert placed.sql == "INSERT INTO sink(a, b, c, d) VALUES (?, ?, ?, ?)"
    assert named.sql == "INSERT INTO sink(a, b, c, d) VALUES (@a, @b, @c, @d)"
    assert placed.parameters == named.parameters
    assert job_of("insert-transaction", features=Features(bindings=["named"])).steps[0] == placed


def test_without_an_axis_values_are_bound_by_name_where_the_runner_can() -> None:
    rows = Parameters(types=["integer", "text", "integer"], rows=[[1, "a", 1], [2, "b", 2]])
    sql = 'SELECT ?, \'?\', "?" FROM (SELECT ? AS "?") WHERE ? -- ?'
    placed, named = (
        step_of(
            Features(bindings=kinds), sql=sql, names=[":b", "$a", ":b"], parameters=[], given=rows
        )
        for kinds in (["positional"], ["positional", "named"])
    )
    assert (placed.names, placed.parameters, placed.sql) == ([], rows, sql)
    assert named.names == [":b", "$a"]
    assert named.sql == 'SELECT :b, \'?\', "?" FROM (SELECT $a AS "?") WHERE :b -- ?'
    assert named.parameters == Parameters(types=["integer", "text"], rows=[[1, "a"], [2, "b"]])


@pytest.mark.parametrize(("reals", "answer"), [("digits", "1.851852"), ("types", "real")])
def test_a_verification_asks_for_what_all_sqlites_agree_on(reals: str, answer: str) -> None:
    sql, columns = "SELECT 'a{{b' AS n, 1.5 AS r", {"n": "text", "r": "real?"}
    timed, verified = (
        step_of(mode=mode, operation="all", sql=sql, columns=columns, reals=reals)
        for mode in ("measure", "verify")
    )
    assert timed.sql == "SELECT 'a{b' AS n, 1.5 AS r"
    columns = [(column.name, column.type, column.nullable) for column in verified.columns]
    assert columns == [("n", "text", False), ("r", "text", True)]
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(verified.sql).fetchall() == [("a{b", answer)]


def test_engine_options_are_the_runners_and_those_of_a_variant_beside_them() -> None:
    engine: dict[str, str | int] = {"threading": "serialized", "memstatus": 1}
    plain, changed = job_of("get-pk"), job_of("get-pk", engine=engine)
    assert (plain.connection.engine, changed.connection.engine) == ({}, engine)
    assert changed.connection.pragmas == plain.connection.pragmas
    made = job_of("threads@option=multi-thread+no-memstatus", engine=engine)
    assert made.connection.engine == {"threading": "multi-thread", "memstatus": 0}
    asked = jobs.question(job_of("threads@option=immutable", engine=engine))
    assert asked.connection.engine == {}
    assert asked.database
    assert (asked.database.uri, asked.database.flags) == ({}, [])


JOBS = {
    "a column may be NULL": "all-nullable",
    "a column read back may be NULL": "insert-types",
    "axes say the manner": "get-pk@transaction=read,shape=array,integers=bigint,statement=cached",
    "an axis fills the SQL": "all@rows=10",
    "workers": "parallel-all@workers=4",
    "a transaction, a reset and a readback": "delete-pk",
    "a cold process is not inspected": "startup-first-row",
    "neither steps nor a database": "startup-noop",
    "a database to write": "threads",
    "a variant opens it otherwise": "threads@option=immutable",
    "a variant has flags": "threads@option=no-mutex",
    "a database in memory, filled by setup": "foo-get",
    "a transaction of a scenario": "foo-in-transaction",
    "a transaction of a variant, and counts that are fixed": "events-window@begin=immediate",
    "workers of all processes": "icons@workers=8",
    "a lone worker beside the main thread": "icons",
    "a lone worker in the main thread": "icons@thread=main",
    "a writer with a pace of its own": "writer-and-readers",
    "a pace": "service-mixed",
    "another pace by an axis": "service-mixed@mix=70-30",
    "a writer's steps": "service-checkpoint",
    "a step more of the writer's by an axis": "service-checkpoint@checkpoint=manual",
    "a timer beside tasks": "service-event-loop",
    "a timer beside tasks of a worker": "service-event-loop@thread=worker",
    "values that are not read": "small-all@values=unread",
}


@pytest.mark.parametrize("what", JOBS)
def test_a_case_and_its_axes_make_the_job(what: str, snapshot: SnapshotAssertion) -> None:
    made = job_of(JOBS[what], warmup_ms=450)
    assert Job.model_validate_json(made.text()) == made
    stated = json.loads(made.text())
    for step in [*stated.get("steps", []), *stated.get("writer", {}).get("steps", [])]:
        if pool := step.get("parameters"):
            pool["rows"] = [len(pool["rows"]), *pool["rows"][:2]]
    assert {name: json.dumps(part) for name, part in stated.items()} == snapshot


def test_what_a_variant_and_a_mode_change() -> None:
    names = [case_of(case).fixture for case in ("key", "key@design=hash")]
    assert names == ["keys-rowid", "keys-hash"]
    assert case_of("icons@workers=8").processes == 2
    assert job_of("startup-first-row", "verify").inspect
    # a sequence of writes is verified in whole passes: 3 statements each, up to 4,096
    case = case_of("transfer-savepoints")
    assert (case.walk, case.verified().operations) == (100, 1300)


COLUMN = {"name": "v", "type": "blob"}
NUMBER = {"types": ["integer"], "rows": [[1]]}
READS = {
    "operation": "read-file",
    "columns": [COLUMN],
    "parameters": {"types": ["text"], "rows": [["a"]]},
}
EXECUTES = {"operation": "execute", "sql": "DELETE FROM users"}
WRITER = {"steps": [EXECUTES], "operations": 1}
TASKS = {"operations_per_iteration": 1, "event_loop": {"timer_ms": 1, "thread": "main"}}
BEGINS = "and execute, which can begin one itself"
ONE_THREAD = "event_loop is of one worker, without share"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": [EXECUTES | {"columns": [COLUMN]}]}, "returns no columns"),
        ({"steps": [EXECUTES | {"parameters": NUMBER}]}, "binds no parameters"),
        ({"steps": [EXECUTES | {"fails": 1}]}, "only run can be expected to fail"),
        ({"steps": [READS | {"sql": "SELECT 1"}]}, "those have none"),
        ({"steps": [READS | {"parameters": NUMBER}]}, "one parameter, a text"),
        ({"steps": [READS | {"columns": []}]}, "one column, a blob"),
        ({"steps": [READS | {"columns": [COLUMN | {"nullable": True}]}]}, "that cannot be NULL"),
        ({"transaction": "read"}, BEGINS),
        ({"transaction": "immediate"}, BEGINS),
        ({"writer": WRITER | {"transaction": "deferred"}}, BEGINS),
        ({"measure": TASKS | {"workers": 2}}, ONE_THREAD),
        ({"measure": TASKS | {"share": {}}}, ONE_THREAD),
    ],
)
def test_a_job_that_contradicts_itself_is_refused(changes: dict[str, Any], words: str) -> None:
    made = job_of("writer-and-readers").model_dump()
    right = {**made, "transaction": "none", "steps": [EXECUTES, READS], "writer": WRITER}
    for job in (right, {**right, "measure": TASKS, "writer": None}):
        assert Job.model_validate(job).steps[0].operation == "execute"
    if "measure" in changes:
        right["writer"] = None
    with pytest.raises(ValueError, match=words):
        Job.model_validate({**right, **changes})


def generator(name: str, **given: Any) -> Generator:
    return Generator.model_validate({"generator": name, **given})


def parameter(name: str, kind: str = "integer", **given: Any) -> Parameter:
    return Parameter.model_validate({"generator": name, "type": kind, **given})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((5, 5), (0.5, 0.5), ("size", 100), ("size+3", 103), ("size-3", 97), ("size * 2", 200)),
        *((text, None) for text in ("sizes", "size/2", "3", "", "size-size")),
    ],
)
def test_a_bound_is_a_number_or_an_expression_of_the_size(text: Any, value: float | None) -> None:
    if value is not None:
        assert bound(text, 100) == value
    else:
        with refused(r"is no bound; expected a number, size, size\+n"):
            bound(text, 100)


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (generator("integer", min=1, max=1000), [167, 405, 43, 449, 517]),
        (generator("permutation"), [5, 0, 2, 4, 3, 1]),
        (generator("text", min=2, max=9), ["Nxr5P", "Qgitu7jG", "PX"]),
        (generator("blob", min=2, max=4), [b"\x97g", b"v\x86\x82"]),
        (generator("pattern", pattern="u{:02d}"), ["u01", "u02", "u03"]),
    ],
)
def test_values_of_a_seed_are_pinned(spec: Generator, values: list[Any]) -> None:
    # What other machines and later versions must draw, too: fixtures are named by their definition.
    assert column(spec, len(values), 0, "pin") == values


@given(st.integers(-50, 50), st.integers(0, 100), st.text(max_size=5))
def test_what_is_drawn_stays_within_its_bounds(low: int, span: int, seed: str) -> None:
    drawn = column(generator("integer", min=low, max=low + span), 30, 0, seed)
    assert {*drawn} <= {*range(low, low + span + 1)}
    count = 1 + span
    drawn = column(generator("permutation", offset=7, scale=3), count, count, seed)
    assert {*drawn} == {7 + 3 * k for k in range(count)}
    least = abs(low) + 2
    for text in column(
        generator("text", min=least, max=least + span, alphabet="äあ🚀"), 20, 0, seed
    ):
        assert isinstance(text, str)
        assert least <= len(text) <= least + span
        assert (text[0] + text[-1]).isascii()
        assert "\0" not in text


def test_blobs_patterns_and_nulls_come_in_their_share() -> None:
    blobs = column(generator("blob", min=0, max=3), 200, 0, "")
    assert {len(b) for b in blobs if isinstance(b, bytes)} == {0, 1, 2, 3}
    assert {*column(generator("pattern", pattern="{}", min=5, max=6), 40, 40, "")} == {"5", "6"}
    drawn = column(generator("integer", min=0, max=1, nulls=0.25), 4000, 0, "share")
    assert 900 < drawn.count(None) < 1100
    assert None not in column(generator("integer", min=0, max=1), 4000, 0, "share")


@given(st.integers(0, 14), st.integers(1, 5000))
def test_a_pool_has_a_power_of_two_of_distinct_keys(power: int, size: int) -> None:
    key = parameter("permutation", min=1, max="size")
    keys = [row[0] for row in pool([key], 1 << power, size, "")]
    length = len(keys)
    assert length & (length - 1) == 0
    assert length <= 1 << power
    assert length == 1 << power or 2 * length > size
    assert len(set(keys)) == length
    assert all(isinstance(k, int) and 1 <= k <= size for k in keys)


def test_a_relative_parameter_follows_an_earlier_one() -> None:
    low = parameter("integer", min=1, max="size-10")
    rows = pool([low, parameter("relative", position=0, plus=9)], 64, 100, "")
    assert len(rows) == 64
    assert all(high - low == 9 for low, high in rows)  # pyright: ignore[reportOperatorIssue]
    assert len({low for low, _ in rows}) > 20


def test_what_cannot_be_drawn_is_refused() -> None:
    with refused("text of 1 characters; its min is at least 2"):
        column(generator("text", min=1, max=5), 3, 3, "")
    with refused("parameter 0 is relative to a later one"):
        pool([parameter("relative", position=0)], 4, 10, "")


INSERT = "INSERT INTO sink(a) VALUES (?)"
READBACK = "SELECT id, a FROM sink ORDER BY id"
GET = '"SELECT id, big, word FROM tiny WHERE id = ?"'
SEVERAL_LINES = '"""\nSELECT id, big, "wort"\nFROM {profile} WHERE id = ?"""'


def check(clone: Clone, *ids: str) -> str:
    """What is told of these cases; "" for nothing."""
    root = clone.root
    known = read(root)
    chosen = [case_of(text, known) for text in ids]
    error = refusal(compiled.check, known, chosen, "s", root / "scenarios", root / "fixtures")
    return clone.plain(str(error or ""))


def planned(spec: Scenario, name: str) -> Iterator[PlannedCase]:
    """Each case of a scenario."""
    for values in itertools.product(*spec.axes.values()):
        axes = dict(zip(spec.axes, map(str, values), strict=True))
        yield make_case(name, axes, KNOWN, KNOWN.modes["quick"])


def test_all_that_the_clone_defines_compiles_and_has_its_name() -> None:
    for name, spec in KNOWN.scenarios.items():
        for case in planned(spec, name):
            compiled.check(KNOWN, [case], "s")
            assert cases.parse_case(case.id, KNOWN) == (name, case.axes)


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (INSERT, "INSERT INTO sink(aa) VALUES (?)", "53: insert.steps[0]", "no column named aa"),
        (INSERT, "INSERT INTO sinks(a) VALUES (?)", "53: insert.steps[0]", "no such table: sinks"),
        (INSERT, "INSERT INT sink(a) VALUES (?)", "53: insert.steps[0]", 'near "INT": syntax err'),
        (READBACK, "SELECT id, b FROM sink", "58: insert.readback[0]", "no such column: b"),
        ("DELETE FROM sink", "DELETE FROM drain", "48: insert.reset[0]", "no such table: drain"),
        (GET, SEVERAL_LINES, "16: get.steps[0].sql", "no such table: normalised"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_sqlites_words(
    catalogue: Clone, old: str, new: str, place: str, words: str
) -> None:
    catalogue.replace("scenarios/tiny.toml", old, new)
    told = check(catalogue, "insert", "get", "all")
    assert told.startswith(f"CLONE/scenarios/tiny.toml:{place}")
    assert words in told
    assert told.endswith("; correct the SQL, or the fixture's tables")
    assert check(catalogue, "all") == ""


def test_each_mistake_is_told_once_but_not_of_a_step_that_is_to_fail(catalogue: Clone) -> None:
    catalogue.replace("scenarios/tiny.toml", INSERT, "INSERT INTO sink(aa) VALUES (?)")
    catalogue.replace("scenarios/tiny.toml", READBACK, "SELECT id, b FROM sink")
    assert len(check(catalogue, "insert", "insert").splitlines()) == 2
    catalogue.replace("scenarios/tiny.toml", '(aa) VALUES (?)"', '(aa) VALUES (?)"\nfails = 1')
    (words,) = check(catalogue, "insert").splitlines()
    assert "readback" in words
    catalogue.replace("fixtures/tiny.toml", "sink(id INTEGER", "sink(id INTEGER NOT")
    assert check(catalogue, "insert", "all") == (
        'CLONE/fixtures/tiny.toml:7: SQLite says of its SQL: near "PRIMARY": syntax error'
    )
    assert check(catalogue, "noop") == ""


@pytest.mark.parametrize(
    ("sql", "setup", "told"),
    [
        # what another SQLite may take is left to the oracle
        ("SELECT nosuchfunction(id) AS id, a FROM sink", "", ""),
        ("SELECT id, json_extract('{', '$') AS a FROM sink", "", ""),
        ("PRAGMA table_info(sink)", "", ""),
        ("SELECT json_valid('[]', 6, 7) AS id, 1 AS a", "", ""),
        # tables of the set-up count
        ("SELECT 1 AS id, x AS a FROM extra", "CREATE TEMP TABLE extra(x)", ""),
        (
            "SELECT 1 AS id, x AS a FROM extra",
            *("CREATE VIRTUAL TABLE extra USING fts5(x, nosuchoption=1)", ""),
        ),
        (
            "SELECT 1 AS id, x AS a FROM extra",
            *("CREATE TEMP TABLE other(x)", "no such table: extra"),
        ),
    ],
)
def test_what_the_set_up_makes_and_another_sqlite_may_take_is_no_mistake(
    catalogue: Clone, sql: str, setup: str, told: str
) -> None:
    more = f'setup = ["{setup}"]\nreset = ["DELETE' if setup else 'reset = ["DELETE'
    catalogue.replace("scenarios/tiny.toml", 'reset = ["DELETE', more)
    catalogue.replace("scenarios/tiny.toml", READBACK, sql)
    heard = check(catalogue, "insert")
    assert told in heard
    assert bool(told) == bool(heard)


def test_all_that_a_runner_gets_was_compiled_letter_for_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def short(step: ScenarioStep, seed: str, size: int, earlier: list[Step]) -> Parameters | None:
        return pool_of(step.model_copy(update={"pool": 1}), seed, size, earlier)

    monkeypatch.setattr(generate, "pool_of", short)
    for name in KNOWN.scenarios:
        case = case_of(name)
        size = fixture.rows(KNOWN.fixtures[case.fixture], "s") if case.fixture else 0
        made = job_of(case, size=size)
        texts = [*made.connection.setup, *made.reset, *(query.sql for query in made.readback)]
        texts += [step.sql for step in (*made.steps, *(made.writer.steps if made.writer else ()))]
        texts += [f"PRAGMA {pragma}={value}" for pragma, value in made.connection.pragmas]
        assert {*filter(None, texts)} <= {
            each.sql for each in compiled.statements(KNOWN, case, "s")
        }


def test_the_place_of_a_scenario_whose_sql_is_written_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[other]\nx = [\n  [1, 2],\n]\n\n[[some.steps]]\nsql = "\\u0053ELECT 1"\n')
    assert compiled.place(tmp_path, "some", "SELECT 1") == f"{file}:6"


WRITING = [
    name
    for name, spec in KNOWN.scenarios.items()
    if spec.writes and spec.metric == "steady" and not spec.fixed
]
PILOTED = [mode for mode in KNOWN.modes.values() if mode.pilot]


@pytest.mark.parametrize("name", WRITING)
def test_it_is_done_as_stated_whatever_a_pilot_sees(name: str) -> None:
    for case in planned(KNOWN.scenarios[name], name):
        assert case.stated
        assert not case.reset_every or case.reset_every % case.operations == 0, "without a pilot"
        for mode, ns in itertools.product(PILOTED, (1e3, 1e6, 1e9)):
            seen = Observed(seconds=0.1, processes=1, window_ms=0, operation_ns=ns)
            for turning in (None, Turning(mode.rounds, 20, mode.lap_ms)):
                made = work(case, [seen], mode, turning)
                counts = allocate(case, {"a": seen}, mode, {}, made, turning)["a"]
                done = counts.warmup_iterations, counts.iterations
                assert [counts.operations * each for each in done] == [*case.stated]
                assert not case.reset_every or case.reset_every % counts.operations == 0


@pytest.mark.parametrize("size", ["m", "l"])
@pytest.mark.parametrize("name", ["upsert", "delete-pk"])
def test_no_row_is_written_twice_where_that_is_other_work(name: str, size: str) -> None:
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    rows = fixture.rows(KNOWN.fixtures[spec.fixture], size)
    for case in planned(spec, name):
        assert case.warmup_operations
        assert case.timed_operations
        made = job_of(case, size=rows)
        (step,) = made.steps
        assert step.parameters
        executed = made.reset_every or case.warmup_operations + case.timed_operations
        keys = [row[0] for row in step.parameters.rows[: executed * step.repeat]]
        assert len(set(keys)) == executed * step.repeat


MOST_ROWS = 5_000_000  # the oracle, Python's sqlite3, gives a digest of some 200,000 in a second


@pytest.mark.parametrize("name", KNOWN.scenarios)
def test_the_oracle_can_answer_a_whole_pool(name: str) -> None:
    for step in KNOWN.scenarios[name].steps:
        limit = re.search(r"LIMIT (\d+)", step.sql or "")
        assert min(step.pool, VERIFIED) * int(limit[1] if limit else 1) <= MOST_ROWS


WRITERS = [name for name, spec in KNOWN.scenarios.items() if spec.writes]
CHANGES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}


def touched(connection: sqlite3.Connection, sqls: Iterable[str]) -> set[tuple[int, str, str]]:
    """What statements do: action, table, and the column where it is one's."""
    seen = set[tuple[int, str, str]]()

    def note(action: int, table: str | None, column: str | None, *_where: str | None) -> int:
        seen.add((action, table or "", column or ""))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    for sql in sqls:
        connection.execute(f"EXPLAIN {sql}", (None,) * sql.count("?"))
    connection.set_authorizer(None)
    return seen


def unread(spec: Scenario) -> set[str]:
    """Columns of the tables that the scenario changes and its read-back does not read."""
    first = {axis: values[0] for axis, values in spec.axes.items()}
    steps = [*spec.steps, *(spec.writer.steps if spec.writer else [])]
    made = [sql for sql in spec.setup if sql.startswith("CREATE")]
    with closing(sqlite3.connect(":memory:")) as connection:
        for sql in KNOWN.fixtures[spec.fixture].tables if spec.fixture else made:
            connection.execute(sql)
        written = touched(connection, (step.text(first) for step in steps))
        columns = {
            (table, row[1])
            for table in {table for action, table, _ in written if action in CHANGES}
            for row in connection.execute(f"PRAGMA table_info({table})")
        }
        back = touched(connection, (query.sql for query in spec.readback))
    assert columns, "it changes nothing"
    read = {(table, column) for action, table, column in back if action == sqlite3.SQLITE_READ}
    return set(map(".".join, columns - read))


@pytest.mark.parametrize("name", WRITERS)
def test_all_that_is_written_is_read_back(name: str) -> None:
    assert unread(KNOWN.scenarios[name]) == set()
    for query in KNOWN.scenarios[name].readback:
        assert not {"WHERE", "LIMIT", "JOIN", "GROUP"} & set(query.sql.upper().split())


def test_a_column_left_out_is_seen() -> None:
    spec = KNOWN.scenarios["update-pk"]
    count = spec.readback[0].model_copy(update={"sql": "SELECT id, owner, balance FROM accounts"})
    assert unread(spec.model_copy(update={"readback": [count]})) == {"accounts.updated"}


GROWING = [name for name, spec in KNOWN.scenarios.items() if spec.writes and spec.fixture]
SIZE = "m"
PARTS = 4


def perform(connection: sqlite3.Connection, job: Job, steps: list[Step], numbers: range) -> None:
    """Some operations, each in a transaction of its own unless its steps begin one."""
    sequence = job.measure.sequence
    order = sequence.order if sequence else [0]
    ends = [0, *itertools.accumulate(sequence.groups if sequence else [len(steps)])]
    begins = any(step.operation == "execute" for step in steps)
    for number in numbers:
        if not begins:
            connection.execute("BEGIN IMMEDIATE")
        place = number % len(order)
        nth = order[:place].count(order[place]) if sequence else number
        for step in steps[ends[order[place]] : ends[order[place] + 1]]:
            bound: list[list[Value]] = step.parameters.rows if step.parameters else [[]]
            for n in range(nth * step.repeat, (nth + 1) * step.repeat):
                connection.execute(step.sql, bound[n % len(bound)]).fetchall()
        if not begins:
            connection.execute("COMMIT")


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fixtures")


@pytest.mark.parametrize("name", GROWING)
def test_no_operation_finds_its_work_done(name: str, fixtures: Path, tmp_path: Path) -> None:
    """Each quarter of the stated work writes about as many pages as the first."""
    spec, case = KNOWN.scenarios[name], case_of(name)
    assert spec.fixture
    source = fixture.ensure(spec.fixture, KNOWN.fixtures[spec.fixture], SIZE, "wal", fixtures)
    copy = tmp_path / "copy.db"
    fixture.fresh_copy(source, copy)
    size = fixture.rows(KNOWN.fixtures[spec.fixture], SIZE)
    job = job_of(case, database=copy, size=size)
    counts = override_of(spec, case.axes)
    total = (counts.warmup_operations or 0) + (counts.timed_operations or 0) or case.total
    steps = job.steps
    if job.writer and all(step.operation != "run" for step in steps):
        iterations = job.measure.warmup_iterations + job.measure.iterations
        steps, total = job.writer.steps, iterations * job.writer.operations
    part = gcd(total // PARTS, job.reset_every or 0)
    log = Path(f"{copy}-wal")
    written: list[int] = []
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        for pragma in ("synchronous=OFF", "wal_autocheckpoint=0"):
            connection.execute(f"PRAGMA {pragma}")
        for first in range(0, part * (total // part), part):
            if job.reset and first % (job.reset_every or 1) == 0:
                for sql in job.reset:
                    connection.execute(sql).fetchall()
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            perform(connection, job, steps, range(first, first + part))
            written.append(log.stat().st_size)
    assert len(written) >= PARTS
    # trees that grow deeper, and pages that are half empty, take some more or less
    assert min(written) > 0.7 * written[0]
