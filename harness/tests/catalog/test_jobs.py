"""From a case to a job: the same keys for every shape, parameters that refer to others."""

# pyright: reportUnknownArgumentType=false

# pyright: reportPrivateUsage=false

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog import generate, jobs
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.generate import bound, column, pool
from sqlitmus.catalog.scenario import Generator, Parameter, Scenario
from sqlitmus.vocabulary.contract import Column, EventLoop, Job, Measure, Parameters, Step
from sqlitmus.vocabulary.errors import UsageError
from tests.known import KNOWN, case_of, job_of


def keys(made: Job) -> Any:
    return [step.parameters and step.parameters.rows for step in made.steps]


@pytest.mark.parametrize(
    "other",
    [
        "get-pk@shape=array",
        "get-pk@integers=bigint",
        "get-pk@statement=adhoc",
        "get-pk@profile=shipped",
        "get-pk@transaction=read",
    ],
)
def test_all_cases_of_a_scenario_ask_for_the_same_keys(other: str) -> None:
    assert keys(job_of(other)) == keys(job_of("get-pk"))
    assert keys(job_of("get-pk"))[0][:4] != keys(job_of("get-pk", size=900))[0][:4]


def test_same_repeats_the_key_of_an_earlier_step() -> None:
    made = job_of("read-modify-write")
    read, write = (step.parameters for step in made.steps)
    assert read
    assert write
    assert [row[1] for row in write.rows] == [row[0] for row in read.rows]
    assert write.types == ["real", "integer"]


def test_a_question_mark_makes_a_column_nullable() -> None:
    (step,) = job_of("all-nullable").steps
    types = [(column.type, column.nullable) for column in step.columns]
    can = [("integer", True), ("text", True), ("real", True), ("integer", True)]
    assert types == [("integer", False), *can]
    (query,) = job_of("insert-types").readback
    assert [column.nullable for column in query.columns] == [False, True, True, True, True]
    assert not any(column.nullable for column in job_of("all").steps[0].columns)


def test_relative_bounds_a_range_of_fixed_length() -> None:
    (rows,) = keys(job_of("scan-pk-range"))
    assert {high - low for low, high in rows} == {999}


def test_the_question_is_the_same_for_every_manner_of_asking() -> None:
    plain = jobs.question(job_of("get-pk"))
    assert (plain.mode, plain.inspect) == ("verify", True)
    for manner in ("shape=typed", "integers=bigint", "statement=cached"):
        asked = jobs.question(job_of(f"get-pk@{manner}"))
        assert asked.steps == plain.steps
    step = plain.steps[0]
    assert (step.shape, step.integers, step.statement) == ("object", "number", "prepared")


def test_axes_reach_the_job() -> None:
    made = job_of("get-pk@transaction=read,shape=array,integers=bigint,statement=cached")
    step = made.steps[0]
    assert (made.transaction, step.shape, step.integers, step.statement) == (
        "read",
        "array",
        "bigint",
        "cached",
    )
    assert "LIMIT 10" in job_of("all@rows=10").steps[0].sql
    assert job_of("parallel-all@workers=4").measure.workers == 4


def test_a_scenarios_own_transaction_reset_and_readback_reach_the_job() -> None:
    made = job_of("delete-pk", size=50)
    assert made.transaction == "immediate"
    assert (made.reset[0], made.reset_every) == ("DELETE FROM accounts", 40)
    assert [column.name for column in made.readback[0].columns] == [
        "id",
        "owner",
        "balance",
        "updated",
    ]


def test_a_pool_is_no_longer_than_what_there_is_to_draw_from() -> None:
    assert len(keys(job_of("delete-pk", size=100))[0]) == 64
    assert len(keys(job_of("delete-pk", size=10_000))[0]) == 4096


def test_blobs_travel_as_hexadecimal_and_big_integers_as_text() -> None:
    (rows,) = keys(job_of("insert-types@value=blob"))
    assert all(len(bytes.fromhex(row[0])) == 17 for row in rows)
    big = generate.encoded
    assert [big(v) for v in (2**53 - 1, 2**53, -(2**53), b"\xff", None, 0.5)] == [
        2**53 - 1,
        "9007199254740992",
        "-9007199254740992",
        "ff",
        None,
        0.5,
    ]


def test_warm_up_is_the_suites_or_the_runners_longer_one() -> None:
    assert job_of("get-pk").measure.warmup_ns == KNOWN.modes["quick"].warmup_ms[0] * 10**6
    assert job_of("get-pk", warmup_ms=500).measure.warmup_ns == 500_000_000
    assert job_of("startup-first-row", warmup_ms=500).measure.warmup_ns == 0


def test_engine_options_are_the_runners() -> None:
    assert job_of("get-pk").connection.engine == {}
    made = job_of("get-pk", engine={"threading": "serialized", "memstatus": 0})
    assert made.connection.engine == {"threading": "serialized", "memstatus": 0}
    assert made.connection.pragmas == job_of("get-pk").connection.pragmas


def with_step(**changes: Any) -> Catalog:
    """The catalogue with a changed step of `get-pk`."""
    spec = KNOWN.scenarios["get-pk"]
    steps = [spec.steps[0].model_copy(update=changes)]
    changed = spec.model_copy(update={"steps": steps})
    return KNOWN.model_copy(update={"scenarios": {"get-pk": changed}})


def test_wide_integers_are_read_as_the_runner_can() -> None:
    known = with_step(wide=True)
    for kinds, manner in ((["number", "bigint"], "bigint"), (["number"], "number")):
        made = job_of("get-pk", known=known, integers=kinds)
        assert made.steps[0].integers == manner


@pytest.mark.parametrize(("reals", "answer"), [("digits", "1.851852"), ("types", "real")])
def test_a_verification_asks_for_what_all_sqlites_agree_on(reals: str, answer: str) -> None:
    known = with_step(
        operation="all",
        sql="SELECT 'a{{b' AS n, 1.5 AS r",
        columns={"n": "text", "r": "real?"},
        reals=reals,
    )
    timed, verified = (
        job_of("get-pk", mode, known=known).steps[0] for mode in ("measure", "verify")
    )
    assert timed.sql == "SELECT 'a{b' AS n, 1.5 AS r"
    assert [(c.name, c.type, c.nullable) for c in verified.columns] == [
        ("n", "text", False),
        ("r", "text", True),
    ]
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(verified.sql).fetchall() == [("a{b", answer)]


def test_a_cold_process_is_inspected_only_when_verified() -> None:
    assert job_of("startup-first-row", "verify").inspect
    assert not job_of("startup-first-row").inspect
    assert job_of("get-pk").inspect


def test_the_start_up_scenario_has_neither_steps_nor_database() -> None:
    made = job_of("startup-noop")
    assert (made.steps, made.database) == ([], None)


def test_a_variant_says_how_the_database_is_opened() -> None:
    plain, changed = job_of("threads"), job_of("threads@option=immutable")
    assert plain.database
    assert changed.database
    assert (plain.database.mode, plain.database.uri) == ("readwrite", {})
    assert (changed.database.mode, changed.database.uri) == ("readonly", {"immutable": "1"})
    assert [v for n, v in changed.connection.pragmas if n == "journal_mode"] == ["DELETE"]
    assert len(changed.connection.pragmas) == len(plain.connection.pragmas)
    flagged = job_of("threads@option=no-mutex").database
    assert flagged
    assert flagged.flags == ["no-mutex"]


def test_engine_options_of_a_variant_stand_beside_the_runners_own() -> None:
    made = job_of("threads@option=multi-thread+no-memstatus", engine={"threading": "serialized"})
    assert made.connection.engine == {"threading": "multi-thread", "memstatus": 0}
    assert jobs.question(made).connection.engine == {}


def test_the_oracle_is_asked_without_flags_and_parameters() -> None:
    asked = jobs.question(job_of("threads@option=immutable"))
    assert asked.database
    assert (asked.database.uri, asked.database.flags) == ({}, [])


def test_a_memory_database_is_filled_by_setup() -> None:
    made = job_of("foo-get")
    assert made.database
    assert made.database.path == ":memory:"
    assert made.connection.setup[0].startswith("CREATE TABLE foo(")


def test_a_variant_may_name_another_fixture_and_transaction() -> None:
    assert case_of("key").fixture == "keys-rowid"
    assert case_of("key@design=hash").fixture == "keys-hash"
    assert job_of("events-window@begin=immediate").transaction == "immediate"
    assert job_of("foo-in-transaction").transaction == "read"


def test_workers_are_those_of_all_processes() -> None:
    assert job_of("icons@workers=8").measure.workers == 16
    assert case_of("icons@workers=8").processes == 2


def test_fixed_counts_have_no_warm_up_by_time() -> None:
    made = job_of("events-window", warmup_ms=450)
    assert (made.measure.warmup_ns, made.measure.warmup_iterations) == (0, 1)
    assert made.measure.iterations == KNOWN.scenarios["events-window"].iterations


def test_a_writer_has_steps_and_a_pace_of_its_own() -> None:
    made = job_of("writer-and-readers")
    assert made.writer
    assert made.measure.rate == KNOWN.scenarios["writer-and-readers"].rate
    assert made.writer.steps[0].operation == "run"
    assert keys(made)[0][:4] != made.writer.steps[0].parameters


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"columns": [Column(name="n", type="integer")]}, "returns no columns"),
        ({"parameters": Parameters(types=["integer"], rows=[[1]])}, "binds no parameters"),
        ({"fails": 1}, "only run can be expected to fail"),
    ],
)
def test_what_is_executed_has_sql_alone(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Step(operation="execute", sql="DELETE FROM users", **changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sql": "SELECT 1"}, "those have none"),
        ({"parameters": Parameters(types=["integer"], rows=[[1]])}, "one parameter, a text"),
        ({"columns": []}, "one column, a blob"),
        ({"columns": [Column(name="v", type="blob", nullable=True)]}, "that cannot be NULL"),
    ],
)
def test_a_file_has_a_path_and_a_content(changes: dict[str, Any], told: str) -> None:
    step = {
        "operation": "read-file",
        "parameters": Parameters(types=["text"], rows=[["a"]]),
        "columns": [Column(name="v", type="blob")],
    }
    assert Step.model_validate(step)
    with pytest.raises(ValueError, match=told):
        Step.model_validate({**step, **changes})


def test_files_are_those_beside_the_database_in_the_order_of_the_keys() -> None:
    rows, files = job_of("blobs").steps[0].parameters, job_of("blobs@from=file").steps[0].parameters
    assert rows
    assert files
    assert files.rows == [[str(Path("users.files") / str(key))] for (key,) in rows.rows]


def test_what_is_executed_stands_in_no_transaction_of_the_job() -> None:
    step = {"operation": "execute", "sql": "BEGIN"}
    made = job_of("writer-and-readers").model_dump()
    writer = {"steps": [step], "operations": 1}
    alone: dict[str, Any] = {**made, "transaction": "none", "steps": [step], "writer": writer}
    assert Job.model_validate(alone).steps[0].operation == "execute"
    within = {"writer": {**writer, "transaction": "deferred"}}
    for changes in ({"transaction": "read"}, {"transaction": "immediate"}, within):
        with pytest.raises(ValueError, match="and execute, which can begin one itself"):
            Job.model_validate({**alone, **changes})


def test_a_job_states_what_differs_from_the_defaults_and_is_read_back_whole() -> None:
    made = job_of("get-pk")
    assert "writer" not in made.text()
    assert Job.model_validate_json(made.text()) == made


def test_values_are_left_unread_by_rows_alone() -> None:
    (step,) = job_of("small-all@values=unread").steps
    assert step.values == "unread"
    assert '"values":"unread"' in job_of("small-all@values=unread").text().replace(" ", "")
    assert '"values"' not in job_of("small-all").text()


def test_a_statement_of_several_tuples_has_their_placeholders_and_parameters() -> None:
    (step,) = job_of("insert-tuples@many=10").steps
    assert step.sql == f"INSERT INTO integers VALUES {', '.join(['(?)'] * 10)}"
    assert step.parameters is not None
    assert step.parameters.types == ["integer"] * 10
    assert {len(row) for row in step.parameters.rows} == {10}
    assert len({value for row in step.parameters.rows for value in row}) > 2000
    spec = KNOWN.scenarios["read-modify-write"].steps[1]
    with pytest.raises(ValueError, match="several tuples cannot have a relative or same"):
        Scenario.model_validate(
            {
                **KNOWN.scenarios["read-modify-write"].model_dump(),
                "steps": [{**spec.model_dump(), "tuples": 2}],
            }
        )


def test_an_axis_value_may_have_another_pace_and_steps_of_the_thread_beside() -> None:
    most, fewer = job_of("service-mixed"), job_of("service-mixed@mix=70-30")
    assert most.writer
    assert fewer.writer
    assert (most.measure.rate, most.writer.rate) == (7600, 400)
    assert (fewer.measure.rate, fewer.writer.rate) == (5600, 2400)
    for mixed, share in ((most, 0.95), (fewer, 0.7)):
        assert mixed.writer
        reads, writes = mixed.measure.operations_per_iteration, mixed.writer.operations
        assert reads / (reads + writes) == pytest.approx(share)
    alone, manual = job_of("service-checkpoint"), job_of("service-checkpoint@checkpoint=manual")
    assert alone.writer
    assert manual.writer
    assert len(manual.writer.steps) == len(alone.writer.steps) + 1
    assert "wal_checkpoint" in manual.writer.steps[-1].sql


def test_a_timer_stands_beside_tasks_of_the_thread_that_the_axis_says() -> None:
    main, apart = job_of("service-event-loop"), job_of("service-event-loop@thread=worker")
    assert main.measure.event_loop == EventLoop(timer_ms=10, thread="main")
    assert apart.measure.event_loop == EventLoop(timer_ms=10, thread="worker")
    assert main.steps == apart.steps
    assert job_of("get-pk").measure.event_loop is None


@pytest.mark.parametrize("more", [{"workers": 2}, {"share": {}}])
def test_tasks_are_those_of_one_thread_alone(more: dict[str, Any]) -> None:
    measure = {"operations_per_iteration": 1, "event_loop": {"timer_ms": 1, "thread": "main"}}
    Measure.model_validate(measure)
    with pytest.raises(ValueError, match="event_loop is of one worker, without share"):
        Measure.model_validate({**measure, **more})


def generator(name: str, **given: Any) -> Generator:
    return Generator.model_validate({"generator": name, **given})


def parameter(name: str, kind: str = "integer", **given: Any) -> Parameter:
    return Parameter.model_validate({"generator": name, "type": kind, **given})


@pytest.mark.parametrize(
    ("text", "value"),
    [(5, 5), (0.5, 0.5), ("size", 100), ("size+3", 103), ("size-3", 97), ("size * 2", 200)],
)
def test_a_bound_is_a_number_or_an_expression_of_the_size(text: Any, value: float) -> None:
    assert bound(text, 100) == value


@pytest.mark.parametrize("text", ["sizes", "size/2", "3", "", "size-size"])
def test_another_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no bound; expected a number, size, size\+n"):
        bound(text, 100)


def test_values_of_a_seed_are_pinned() -> None:
    # What other machines and later versions must draw, too: fixtures are named by their definition.
    assert column(generator("integer", min=1, max=1000), 5, 0, "pin") == PINNED["integer"]
    assert column(generator("permutation"), 6, 0, "pin") == PINNED["permutation"]
    assert column(generator("text", min=2, max=9), 3, 0, "pin") == PINNED["text"]
    assert column(generator("blob", min=2, max=4), 2, 0, "pin") == PINNED["blob"]


def test_a_pattern_counts_or_draws() -> None:
    assert column(generator("pattern", pattern="u{:02d}"), 3, 3, "") == ["u01", "u02", "u03"]
    drawn = column(generator("pattern", pattern="{}", min=5, max=6), 40, 40, "")
    assert set(drawn) == {"5", "6"}


@given(st.integers(-50, 50), st.integers(0, 100), st.text(max_size=5))
def test_integers_stay_within_their_bounds_and_reach_them(low: int, span: int, seed: str) -> None:
    drawn = column(generator("integer", min=low, max=low + span), 30, 0, seed)
    assert all(isinstance(v, int) and low <= v <= low + span for v in drawn)
    if span == 1:
        assert len(set(drawn)) <= 2


@given(st.integers(1, 200), st.text(max_size=5))
def test_a_permutation_is_one(count: int, seed: str) -> None:
    spec = generator("permutation", offset=7, scale=3)
    drawn = column(spec, count, count, seed)
    assert sorted(drawn) == [7 + 3 * k for k in range(count)]  # pyright: ignore[reportArgumentType]


@given(st.integers(2, 40), st.integers(0, 40), st.text(max_size=5))
def test_text_has_its_length_and_ascii_ends(low: int, span: int, seed: str) -> None:
    spec = generator("text", min=low, max=low + span, alphabet="äあ🚀")
    for text in column(spec, 20, 0, seed):
        assert isinstance(text, str)
        assert low <= len(text) <= low + span
        assert text[0].isascii()
        assert text[-1].isascii()
        assert "\0" not in text


def test_text_without_room_for_its_ends_is_refused() -> None:
    with pytest.raises(UsageError, match="text of 1 characters; its min is at least 2"):
        column(generator("text", min=1, max=5), 3, 3, "")


def test_blobs_have_their_length() -> None:
    lengths = {len(b) for b in column(generator("blob", min=0, max=3), 200, 0, "")}  # pyright: ignore[reportArgumentType]
    assert lengths == {0, 1, 2, 3}


def test_nulls_come_in_their_share() -> None:
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
    rows = pool(
        [parameter("integer", min=1, max="size-10"), parameter("relative", position=0, plus=9)],
        64,
        100,
        "",
    )
    assert len(rows) == 64
    assert all(high - low == 9 for low, high in rows)  # pyright: ignore[reportOperatorIssue]
    assert len({low for low, _ in rows}) > 20


def test_a_parameter_relative_to_a_later_one_is_refused() -> None:
    with pytest.raises(UsageError, match="parameter 0 is relative to a later one"):
        pool([parameter("relative", position=0)], 4, 10, "")


PINNED: dict[str, list[Any]] = {
    "integer": [167, 405, 43, 449, 517],
    "permutation": [5, 0, 2, 4, 3, 1],
    "text": ["Nxr5P", "Qgitu7jG", "PX"],
    "blob": [b"\x97g", b"v\x86\x82"],
}
