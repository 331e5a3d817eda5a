"""A workload's file: what it may say, and where it is wrong."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Parameter
from sqlitmus.workload.file import Query, Source, read
from sqlitmus.workload.statements import LONGEST
from sqlitmus.workload.trace import with_queries
from tests.refusals import refused
from tests.workload.making import Workload, workload

pytestmark = pytest.mark.usefixtures("database")

Write = Callable[[str], Path]
QUERY = '[query.a]\nsql = "SELECT 1"\n'
DRAWN = '[{ type = "text", generator = "uuid" }]'


@pytest.mark.parametrize(
    "parameters", ['"SELECT id FROM document"', '[[1, "a"], [2, "b"]]', "[1, 2]", DRAWN]
)
def test_parameters_are_a_query_rows_or_generators(
    write: Write, catalog: Catalog, parameters: str
) -> None:
    text = f'[query.a]\nsql = "SELECT 1 FROM document WHERE id = ?"\nparameters = {parameters}\n'
    source = read(write(text), catalog)
    drawn = source.workload.query["a"].parts()[0].parameters
    if parameters == DRAWN:
        assert drawn == [Parameter(type="text", generator="uuid")]
    else:
        assert drawn == json.loads(parameters)
    assert source.database == source.file.parent / "app.db"


def test_a_limit_that_the_profile_keeps_is_taken(write: Write, catalog: Catalog) -> None:
    for durability, profile in (("normal", "normalised"), ("full", "durable")):
        file = write(f'profile = "{profile}"\nlimits.durability = "{durability}"\n{QUERY}')
        assert read(file, catalog).workload.limits.durability == durability


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "my.toml: a workload has queries, or a trace in their place"),
        (f'trace = "a"\n{QUERY}', "my.toml: a workload has queries, or a trace in their place"),
        ("workers = 4\n[query.a]\n", "my.toml:3: query.a: a query has either sql or statements"),
        ("[query]\n", "my.toml: a workload has queries, or a trace in their place"),
        ('[query.a]\nsql = ""\n', "my.toml:2: query.a: a query has either sql or statements"),
        (f"{QUERY}weight = 0\n", "my.toml:4: query.a.weight: Input should be greater than 0"),
        (f"{QUERY}weight = -1\n", "my.toml:4: query.a.weight: Input should be greater than 0"),
        (
            f"{QUERY}wieght = 2\n",
            "my.toml:4: query.a.wieght: there is no such key; correct its name, or take it out",
        ),
        (
            QUERY.replace("a]", '"A b"]'),
            "my.toml:2: query.A b: a query's name has small letters, digits and dashes, 40 at most",
        ),
        (
            f'profile = "normalized"\n{QUERY}',
            "my.toml:2: profile: there is no profile 'normalized'; did you mean normalised?",
        ),
        (f"rates = [0]\n{QUERY}", "my.toml:2: rates[0]: Input should be greater than 0"),
        (
            f'limits.durability = "full"\n{QUERY}',
            "it is full, and profile normalised sets synchronous NORMAL, which no runner can then",
        ),
        (
            f'[limits]\ndurability = "some"\n{QUERY}',
            "my.toml:3: limits.durability: Input should be 'full' or 'normal'",
        ),
        ("query = ", "my.toml: not TOML: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    write: Write, catalog: Catalog, text: str, message: str
) -> None:
    with refused(re.escape(message)):
        read(write(text), catalog)


GET = "SELECT title FROM document WHERE id = ?"
ADD = "INSERT INTO event(document, at) VALUES (?, ?)"
Traced = Callable[..., Source]
Made = Callable[..., Workload]
Line = dict[str, object] | str


@pytest.fixture
def trace(write: Write) -> Callable[..., Path]:
    """The file of a workload whose trace has these lines."""

    def of(*lines: Line) -> Path:
        file = write('trace = "app.jsonl"\n')
        text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (file.parent / "app.jsonl").write_text("\n".join(text), encoding="utf-8")
        return file

    return of


@pytest.fixture
def traced(trace: Callable[..., Path], catalog: Catalog, heard: list[str]) -> Traced:
    """What is read of a trace with these lines."""
    return lambda *lines: with_queries(read(trace(*lines), catalog), heard.append)


@pytest.fixture
def made(trace: Callable[..., Path], catalog: Catalog, heard: list[str]) -> Made:
    """The workload of a trace with these lines."""
    return lambda *lines: workload(trace(*lines), catalog, heard.append)


def at(sql: str, *parameters: object, **more: object) -> Line:
    return {"sql": sql, "parameters": [*parameters], **more}


def queries(source: Source) -> dict[str, Query]:
    return source.workload.query


def refusal(traced: Traced, *lines: Line) -> str:
    with refused() as told:
        traced(*lines)
    return str(told.value)


def test_statements_are_grouped_by_their_sql_and_weighed_by_their_number(traced: Traced) -> None:
    made = queries(traced(at(GET, 1), at(ADD, 1, 2), "", at(f" {GET} ;", 7), at(GET, 1)))
    assert {name: query.weight for name, query in made.items()} == {
        "select-document": 3,
        "insert-event": 1,
    }
    (get,) = made["select-document"].parts()
    assert (get.sql, get.parameters) == (GET, [[1], [7], [1]])


def test_values_of_each_kind_are_bound(traced: Traced) -> None:
    made = queries(traced(at("SELECT ?", None, 1, 2.5, "a", {"blob": "00ff"})))
    assert made["select"].parts()[0].parameters == [[None, 1, 2.5, "a", b"\x00\xff"]]


QUOTED = """SELECT "a 1", t2 FROM document WHERE id = {} AND owner = {} AND body = {} LIMIT 50"""
SAME = "SELECT title FROM document WHERE owner = 'it''s' AND size > 1.5 AND body <> x'00' LIMIT 3"
REALS = "SELECT size / 2.0, 1e999, -9223372036854775808 FROM document WHERE size < {}"


@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        (
            QUOTED,
            [(f"{n}.0", f"'o''{n}'", f"x'0{n}'") for n in (1, 2, 1)],
            [[1, "o'1", b"\x01"], [2, "o'2", b"\x02"], [1, "o'1", b"\x01"]],
        ),
        (REALS, [("3.0",), ("1e20",), ("2.5",)], [[3], [1e20], [2.5]]),
        (SAME, [(), ()], []),
    ],
)
def test_values_in_the_sql_that_differ_become_parameters_and_others_stay_as_written(
    traced: Traced, sql: str, values: list[tuple[str, ...]], rows: list[list[object]]
) -> None:
    made = queries(traced(*({"sql": sql.format(*each)} for each in values)))
    (part,) = made["select-document"].parts()
    assert part.sql == sql.format("?", "?", "?")
    assert repr(part.parameters) == repr(rows), "of the same types"


def test_a_transaction_is_one_query_whoever_is_at_work_beside_it(traced: Traced) -> None:
    made = queries(
        traced(
            at("begin immediate transaction", connection=1),
            at("BEGIN", connection=2),
            at(GET, 1, connection=1),
            at(GET, 2),
            at(GET, 3, connection=2),
            at(ADD, 1, 10, connection=1),
            at(ADD, 1, 11, connection=1),
            at("COMMIT", connection=1),
            at("END", connection=2),
        )
    )
    assert list(made) == [
        "select-document",
        "in-transaction-insert-event",
        "in-transaction-select-document",
    ]
    whole = made["in-transaction-insert-event"]
    assert whole.transaction == "immediate"
    assert [(part.sql, part.repeat, part.parameters) for part in whole.parts()] == [
        (GET, 1, [[1]]),
        (ADD, 2, [[1, 10], [1, 11]]),
    ]
    assert made["in-transaction-select-document"].transaction == "deferred"


def test_what_follows_a_savepoint_is_a_part_of_its_transaction_unless_it_is_rolled_back(
    traced: Traced, heard: list[str]
) -> None:
    def run(*words: str | int) -> list[tuple[str, list[object]]]:
        """Transaction and values of the queries, of words and of ids that are read."""
        lines = [at(GET, word) if isinstance(word, int) else at(word) for word in words]
        made = queries(traced(*lines))
        parts = [(query.transaction, query.parts()) for query in made.values()]
        return [(kind, [row for part in of for row in part.parameters]) for kind, of in parts]

    outside = run('SAVEPOINT "a b"', 1, "savepoint B", 2, "release savepoint b", 3, "RELEASE [A B]")
    assert outside == [("deferred", [[1], [2], [3]])]
    assert heard == []
    nested = ["SAVEPOINT a", 2, "SAVEPOINT b", 3, "ROLLBACK TO a", 4, "SAVEPOINT a"]
    within = run("BEGIN IMMEDIATE", 1, *nested, "ROLLBACK TRANSACTION TO SAVEPOINT a", "COMMIT")
    assert within == [("immediate", [[1], [4]])]
    (words,) = heard
    assert words.endswith("read without 1 transaction or part of one that it rolls back")
    again = run("SAVEPOINT a", 1, "ROLLBACK TO a", 2, "RELEASE a", "SAVEPOINT a", 3, "COMMIT", 4)
    assert again == [("deferred", [[2], [3]]), ("none", [[4]])]
    assert run("SAVEPOINT a", 1, "SAVEPOINT b", 2, "RELEASE a", 3) == [
        ("deferred", [[1], [2]]),
        ("none", [[3]]),
    ]
    nothing = run("SAVEPOINT a", 1, "ROLLBACK TO a", "RELEASE a", "SAVEPOINT a", 2, "ROLLBACK", 3)
    assert nothing == [("none", [[3]])]


def test_what_is_rolled_back_and_what_is_rare_is_left_out_and_told(
    traced: Traced, heard: list[str]
) -> None:
    many = [at(GET, number) for number in range(400)]
    made = queries(traced(*many, at("SELECT 1"), at("BEGIN"), at(ADD, 1, 2), at("ROLLBACK")))
    assert list(made) == ["select-document"]
    assert [words.partition(": ")[2] for words in heard] == [
        "read without 1 transaction or part of one that it rolls back",
        "read without 1 query that make up less than 0.5% each and 0.2% together",
    ]


def test_a_long_trace_gives_rows_from_all_of_it(traced: Traced) -> None:
    many = 5 * LONGEST
    (get,) = queries(traced(*(at(GET, number) for number in range(many))))[
        "select-document"
    ].parts()
    bound = [row[0] for row in get.parameters if isinstance(row, list)]
    ids = [value for value in bound if isinstance(value, int)]
    assert len(ids) == LONGEST
    assert ids == sorted(ids)
    assert ids[0] == 0
    assert ids[-1] > 0.95 * many


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((at(GET, 1), "{"), "app.jsonl:2: it is no JSON in UTF-8"),
        (("[]",), "app.jsonl:1: (top level): a line is an object with sql and parameters"),
        (("{}",), "app.jsonl:1: sql: is missing; a line is an object"),
        ((at(GET, [1]),), "app.jsonl:1: parameters[0]: "),
        ((at(GET, {"text": "a"}),), 'parameters[0]: an object is a blob, such as {"blob": "00ff"}'),
        ((at(GET, 2**63),), "app.jsonl:1: parameters[0]: an integer has 64 bits at most"),
        ((at(GET, 1, time=3),), "app.jsonl:1: time: there is no such key; a line has sql, "),
        ((at("BEGIN"), at(GET, 1)), "app.jsonl:1: it begins a transaction that no line ends"),
        ((at("COMMIT"),), "app.jsonl:1: it ends a transaction that no line began"),
        (
            (at("BEGIN"), at("BEGIN")),
            "app.jsonl:2: it begins a transaction within that of line 1; name each connection",
        ),
        (
            (at("BEGIN EXCLUSIVE"), at("END")),
            "app.jsonl:1: EXCLUSIVE transactions are not measured",
        ),
        ((at("SAVEPOINT a"), at(GET, 1)), "app.jsonl:1: it begins a transaction that no line ends"),
        ((at("RELEASE a"),), "app.jsonl:1: it names a savepoint that no line began"),
        ((at("BEGIN"), at("ROLLBACK TO a")), "app.jsonl:2: it names a savepoint that no line "),
        (
            (at("SAVEPOINT a"), at("SAVEPOINT b"), at("RELEASE a"), at("RELEASE b")),
            "app.jsonl:4: it names a savepoint that no line began, or that has ended",
        ),
        (("", at("BEGIN"), at("END")), "app.jsonl: it holds no statement; write one a line"),
        (
            tuple(at(f"SELECT {number}") for number in range(50)),
            "app.jsonl: it has 50 different queries, and 40 at most can be measured",
        ),
        (("{",) * 30, "app.jsonl: and 10 more such lines"),
    ],
)
def test_a_bad_line_is_told_by_its_number(
    traced: Traced, lines: tuple[Line, ...], message: str
) -> None:
    assert message in refusal(traced, *lines)


def test_no_value_of_a_bad_line_is_told(traced: Traced) -> None:
    for line in (at(GET, ["secret"]), at(GET, {"blob": "secret"}), '{"sql": "secret'):
        assert "secret" not in refusal(traced, line)


def test_an_absent_trace_is_told(write: Write, catalog: Catalog) -> None:
    source = read(write('trace = "gone.jsonl"\n'), catalog)
    with refused(r"gone\.jsonl: cannot be read: No such file"):
        with_queries(source, print)


def test_a_trace_becomes_scenarios(made: Made) -> None:
    lines = at(GET, 1), at(GET, 2), at("BEGIN"), at(ADD, 1, 2), at("COMMIT")
    scenarios = made(*lines).scenarios
    assert list(scenarios) == [
        "select-document", "in-transaction-insert-event", "start", "mix"
    ]  # fmt: skip
    assert scenarios["in-transaction-insert-event"].writes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (at("SELECT titel FROM document"), "column 8: SQLite "),
        (at("PRAGMA cache_size = 1"), "it sets a pragma; choose a profile"),
        (at(GET, 1, 2), "the SQL has 1 placeholders, a row of parameters 2 values"),
        (at("DELETE FROM event"), "it deletes from event"),
    ],
)
def test_sql_that_cannot_be_measured_is_told_by_its_line(
    trace: Callable[..., Path], catalog: Catalog, database: Path, line: Line, message: str
) -> None:
    with refused() as told:
        workload(trace(at(GET, 1), line), catalog)
    assert str(told.value).startswith(f"{database.parent / 'app.jsonl'}:2: ")
    assert message in str(told.value)


def test_what_of_a_trace_cannot_be_measured_is_left_out_and_counted_by_reason(
    made: Made, heard: list[str]
) -> None:
    forget = "DELETE FROM event WHERE id = ?"
    word = "INSERT INTO word VALUES (?, 1)"
    removed = [at("BEGIN"), at(ADD, 1, 2), at("DELETE FROM event"), at("COMMIT")]
    last = at(word, "x"), at(forget, 2)
    scenarios = made(*[at(GET, 1)] * 6, at(forget, 1), *removed, *last).scenarios
    assert list(scenarios) == ["select-document", "start"]
    assert heard == scenarios["select-document"].notes
    few = "so a process can do it {}, and 8 are needed"
    no_rowid = "word has no rowid, by which new rows would be known"
    assert heard == [
        "app.jsonl: read without 4 of 10 queries (40.0%), which cannot be measured",
        f"app.jsonl:7: left out 2 times: it deletes from event, {few.format('2 times')}",
        f"app.jsonl:9: left out 1 time: it deletes from event, {few.format('1 time')}",
        f"app.jsonl:12: left out 1 time: {no_rowid}, {few.format('1 time')}",
    ]


def test_a_trace_may_delete_and_insert_without_rowids(made: Made, heard: list[str]) -> None:
    forget, word = "DELETE FROM event WHERE id = ?", "INSERT INTO word VALUES (?, 1)"
    # the last four find what others have left
    forgotten = [at(forget, n) for n in [*range(1, 17), 1, 2, 3, 90]]
    words = [at(word, f"word {n}") for n in [*range(16), 1, 2, 3, 4]]
    scenarios = made(*[at(GET, 1)] * 40, *forgotten, *words).scenarios
    assert list(scenarios) == ["select-document", "delete-event", "insert-word", "start", "mix"]
    assert heard == []
    assert [step.operation for step in scenarios["mix"].steps] == ["all", "run", "run"]
    given = scenarios["delete-event"].steps[0].given
    assert given
    assert given.rows == [[n] for n in range(1, 17)]


def test_a_trace_of_which_nothing_can_be_measured_is_refused(made: Made) -> None:
    with refused(r"app.jsonl:1: it deletes from event"):
        made(at("DELETE FROM event"))
