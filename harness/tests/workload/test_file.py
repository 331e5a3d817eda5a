"""A workload's file: what it may say, and where it is wrong."""

import re

import pytest

from sqlitmus.workload.statements import LONGEST
from tests.refusals import refused
from tests.workload.making import WORKLOADS, Line, Service, at, rows_of

pytestmark = pytest.mark.usefixtures("database")

QUERY = '[query.a]\nsql = "SELECT 1"\n'


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ('"SELECT id FROM document WHERE id < 3"', [[1], [2]]),
        ('[[1, "a"], [2, "b"]]', [[1, "a"], [2, "b"]]),
        ("[3, 4]", [[3], [4]]),
    ],
)
def test_parameters_are_a_query_rows_or_generators(
    service: Service, parameters: str, rows: list[object]
) -> None:
    both = " AND title > ?" * ('"a"' in parameters)
    query = f'[query.a]\nsql = "SELECT title FROM document WHERE id = ?{both}"\nparameters = '
    (step,) = service.made(f"{query}{parameters}\n").scenarios["a"].steps
    assert step.given
    assert step.given.rows == rows


def test_generators_draw_parameters(service: Service) -> None:
    drawn = 'parameters = [{ type = "text", generator = "uuid" }]\n'
    sql = 'sql = "SELECT id FROM document WHERE title = ?"'
    made = service.made(f"[query.a]\n{sql}\n{drawn}")
    assert {len(value) for value in rows_of(made.scenarios["a"].steps[0])} == {36}


def test_a_limit_that_the_profile_keeps_is_taken(service: Service) -> None:
    for durability, profile in (("normal", "normalised"), ("full", "durable")):
        text = f'profile = "{profile}"\nlimits.durability = "{durability}"\n{QUERY}'
        limits = service.made(text).source.workload.limits
        assert limits.durability == durability


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [(name, *fault) for name, of in WORKLOADS.items() for fault in of["wrong"]],
)
def test_what_is_wrong_is_told_with_its_line(
    service: Service, name: str, old: str, new: str, said: str
) -> None:
    if script := WORKLOADS[name].get("database"):
        service.database(f"DROP TABLE document; {script}")
    text = WORKLOADS[name]["right"]
    assert text.count(old) == 1
    with refused(re.escape(said)):
        service.made(text.replace(old, new))


GET = "SELECT title FROM document WHERE id = ?"
ADD = "INSERT INTO event(document, at) VALUES (?, ?)"


def told(service: Service, *lines: Line) -> dict[str, tuple[object, ...]]:
    """Weight, transaction and parts of each query that is read of a trace with these lines."""
    return {
        name: (
            made.weight,
            made.transaction,
            [(p.sql, p.repeat, p.parameters) for p in made.parts()],
        )
        for name, made in service.queries(*lines).items()
    }


def test_statements_are_grouped_by_their_sql_and_weighed_by_their_number(service: Service) -> None:
    values = at("SELECT ?", None, 1, 2.5, "a", {"blob": "00ff"})
    lines = at(GET, 1), at(ADD, 1, 2), "", at(f" {GET} ;", 7), at(GET, 1), values
    assert told(service, *lines) == {
        "select-document": (3, "none", [(GET, 1, [[1], [7], [1]])]),
        "insert-event": (1, "none", [(ADD, 1, [[1, 2]])]),
        "select": (1, "none", [("SELECT ?", 1, [[None, 1, 2.5, "a", b"\x00\xff"]])]),
    }


QUOTED = """SELECT "a 1", t2 FROM document WHERE id = {} AND owner = {} AND body = {} LIMIT 50"""
SAME = "SELECT title FROM document WHERE owner = 'it''s' AND size > 1.5 AND body <> x'00' LIMIT 3"
REALS = "SELECT size / 2.0, 1e999, -9223372036854775808 FROM document WHERE size < {}"


@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        (
            QUOTED,
            [("1.0", "'o''1'", "x'01'"), ("2", "'o'", "x''")],
            [[1, "o'1", b"\1"], [2, "o", b""]],
        ),
        (REALS, [("3.0",), ("1e20",), ("2.5",)], [[3], [1e20], [2.5]]),
        (SAME, [(), ()], []),
    ],
)
def test_values_in_the_sql_that_differ_become_parameters_and_others_stay_as_written(
    service: Service, sql: str, values: list[tuple[str, ...]], rows: list[list[object]]
) -> None:
    made = service.queries(*({"sql": sql.format(*each)} for each in values))
    (part,) = made["select-document"].parts()
    assert part.sql == sql.format("?", "?", "?")
    assert repr(part.parameters) == repr(rows), "of the same types"


def test_a_transaction_is_one_query_whoever_is_at_work_beside_it(service: Service) -> None:
    first = [at(GET, 1, connection=1), at(ADD, 1, 10, connection=1), at(ADD, 1, 11, connection=1)]
    beside = [at(GET, 2), at(GET, 3, connection=2)]
    begins = at("begin immediate transaction", connection=1), at("BEGIN", connection=2)
    ends = at("COMMIT", connection=1), at("END", connection=2)
    assert told(service, *begins, first[0], *beside, *first[1:], *ends) == {
        "select-document": (1, "none", [(GET, 1, [[2]])]),
        "in-transaction-insert-event": (
            *(1, "immediate"),
            [(GET, 1, [[1]]), (ADD, 2, [[1, 10], [1, 11]])],
        ),
        "in-transaction-select-document": (1, "deferred", [(GET, 1, [[3]])]),
    }


NESTED = "SAVEPOINT a; 2; SAVEPOINT b; 3; ROLLBACK TO SAVEPOINT a"


@pytest.mark.parametrize(
    ("lines", "read", "left_out"),
    [
        (
            'SAVEPOINT "a b"; 1; savepoint B; 2; release savepoint b; 3; RELEASE [A B]',
            *([("deferred", [[1], [2], [3]])], 0),
        ),
        (
            f"BEGIN IMMEDIATE; 1; {NESTED}; 4; SAVEPOINT a; ROLLBACK TRANSACTION TO a; COMMIT",
            *([("immediate", [[1], [4]])], 1),
        ),
        (
            "SAVEPOINT a; 1; ROLLBACK TO a; 2; RELEASE a; SAVEPOINT a; 3; COMMIT; 4",
            *([("deferred", [[2], [3]]), ("none", [[4]])], 1),
        ),
        (
            "SAVEPOINT a; 1; SAVEPOINT b; 2; RELEASE a; 3",
            *([("deferred", [[1], [2]]), ("none", [[3]])], 0),
        ),
        (
            "SAVEPOINT a; 1; ROLLBACK TO a; RELEASE a; SAVEPOINT a; 2; ROLLBACK; 3",
            *([("none", [[3]])], 2),
        ),
    ],
)
def test_what_follows_a_savepoint_is_a_part_of_its_transaction_unless_it_is_rolled_back(
    service: Service, lines: str, read: list[object], left_out: int
) -> None:
    """A number is a row that is read."""
    told = (at(GET, int(line)) if line.isdecimal() else at(line) for line in lines.split("; "))
    made = service.queries(*told)
    parts = [(query.transaction, query.parts()) for query in made.values()]
    assert [(kind, [row for part in of for row in part.parameters]) for kind, of in parts] == read
    many = "s or parts" if left_out > 1 else " or part"
    words = f"read without {left_out} transaction{many} of one that it rolls back"
    assert [heard.partition(": ")[2] for heard in service.heard] == [words] * bool(left_out)


def test_what_is_rolled_back_and_what_is_rare_is_left_out_and_told(service: Service) -> None:
    many = [at(GET, number) for number in range(400)]
    left_out = at("SELECT 1"), at("BEGIN"), at(ADD, 1, 2), at("ROLLBACK")
    assert list(service.queries(*many, *left_out)) == ["select-document"]
    assert [words.partition(": ")[2] for words in service.heard] == [
        "read without 1 transaction or part of one that it rolls back",
        "read without 1 query that make up less than 0.5% each and 0.2% together",
    ]


def test_a_long_trace_gives_rows_from_all_of_it(service: Service) -> None:
    made = service.queries(*(at(GET, number) for number in range(5 * LONGEST)))
    (get,) = made["select-document"].parts()
    bound = [row[0] for row in get.parameters if isinstance(row, list)]
    ids = [value for value in bound if isinstance(value, int)]
    assert len(ids) == LONGEST
    assert ids == sorted(ids)
    assert ids[0] == 0
    assert ids[-1] > 0.95 * 5 * LONGEST


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((at(GET, 1), "{"), "app.jsonl:2: it is no JSON in UTF-8"),
        (("[]",), "app.jsonl:1: (top level): a line is an object with sql and parameters"),
        (("{}",), "app.jsonl:1: sql: is missing; a line is an object"),
        ((at(GET, ["secret"]),), "app.jsonl:1: parameters[0]: "),
        ((at(GET, {"blob": "secret"}),), "app.jsonl:1: parameters[0]: "),
        (('{"sql": "secret',), "app.jsonl:1: it is no JSON in UTF-8"),
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
        ((at(GET, 1), at("SELECT titel FROM document")), "app.jsonl:2: line 1, column 8: SQLite "),
        ((at(GET, 1), at("PRAGMA cache_size = 1")), "app.jsonl:2: it sets a pragma; choose a prof"),
        (
            (at(GET, 1), at(GET, 1, 2)),
            "app.jsonl:2: the SQL has 1 placeholders, a row of parameters 2 val",
        ),
        ((at("DELETE FROM event"),), "app.jsonl:1: it deletes from event"),
    ],
)
def test_a_bad_line_is_told_by_its_number(
    service: Service, lines: tuple[Line, ...], message: str
) -> None:
    with refused(re.escape(message)) as told:
        service.made("", *lines, strict=True)
    assert "secret" not in str(told.value), "no value of it"


def test_an_absent_trace_is_told(service: Service) -> None:
    with refused(r"gone\.jsonl: cannot be read: No such file"):
        service.made('trace = "gone.jsonl"\n')


def test_a_trace_becomes_scenarios(service: Service) -> None:
    lines = at(GET, 1), at(GET, 2), at("BEGIN"), at(ADD, 1, 2), at("COMMIT")
    scenarios = service.made("", *lines).scenarios
    whole = "in-transaction-insert-event"
    assert list(scenarios) == ["select-document", whole, "start", "mix"]
    assert scenarios[whole].writes


def test_what_of_a_trace_cannot_be_measured_is_left_out_and_counted_by_reason(
    service: Service,
) -> None:
    forget, word = "DELETE FROM event WHERE id = ?", "INSERT INTO word VALUES (?, 1)"
    removed = [at("BEGIN"), at(ADD, 1, 2), at("DELETE FROM event"), at("COMMIT")]
    lines = [*[at(GET, 1)] * 6, at(forget, 1), *removed, at(word, "x"), at(forget, 2)]
    scenarios = service.made("", *lines).scenarios
    assert list(scenarios) == ["select-document", "start"]
    assert service.heard == scenarios["select-document"].notes
    few = "so a process can do it {}, and 8 are needed"
    no_rowid = "word has no rowid, by which new rows would be known"
    assert service.heard == [
        "app.jsonl: read without 4 of 10 queries (40.0%), which cannot be measured",
        f"app.jsonl:7: left out 2 times: it deletes from event, {few.format('2 times')}",
        f"app.jsonl:9: left out 1 time: it deletes from event, {few.format('1 time')}",
        f"app.jsonl:12: left out 1 time: {no_rowid}, {few.format('1 time')}",
    ]


def test_a_trace_may_delete_and_insert_without_rowids(service: Service) -> None:
    forget, word = "DELETE FROM event WHERE id = ?", "INSERT INTO word VALUES (?, 1)"
    # the last four find what others have left
    forgotten = [at(forget, n) for n in [*range(1, 17), 1, 2, 3, 90]]
    words = [at(word, f"word {n}") for n in [*range(16), 1, 2, 3, 4]]
    scenarios = service.made("", *[at(GET, 1)] * 40, *forgotten, *words).scenarios
    assert list(scenarios) == ["select-document", "delete-event", "insert-word", "start", "mix"]
    assert service.heard == []
    assert [step.operation for step in scenarios["mix"].steps] == ["all", "run", "run"]
    given = scenarios["delete-event"].steps[0].given
    assert given
    assert given.rows == [[n] for n in range(1, 17)]
