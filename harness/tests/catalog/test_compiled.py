"""SQL that does not compile is told with its place; what may be right is left to the oracle."""

import itertools
from pathlib import Path

import pytest

from sqlitmus.catalog import cases, compiled, fixture, jobs
from sqlitmus.catalog.generate import pool_of
from sqlitmus.catalog.scenario import ScenarioStep
from sqlitmus.vocabulary.contract import Parameters, Step
from sqlitmus.vocabulary.errors import UsageError
from tests.fakes.clone import Clone
from tests.known import KNOWN, case_of, job_of, read

INSERT = "INSERT INTO sink(a) VALUES (?)"
READBACK = "SELECT id, a FROM sink ORDER BY id"


def check(clone: Clone, *ids: str) -> str:
    """What is told of these cases; "" for nothing."""
    root = clone.root
    known = read(root)
    chosen = [case_of(text, known) for text in ids]
    try:
        compiled.check(known, chosen, "s", root / "scenarios", root / "fixtures")
    except UsageError as error:
        return clone.plain(str(error))
    return ""


def test_all_that_the_clone_defines_compiles() -> None:
    for name, spec in KNOWN.scenarios.items():
        choices = [[(axis, value) for value in values] for axis, values in spec.axes.items()]
        for chosen in itertools.product(*choices):
            case = cases.make_case(name, dict(chosen), KNOWN, KNOWN.modes["quick"])
            compiled.check(KNOWN, [case], "s")


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (INSERT, "INSERT INTO sink(aa) VALUES (?)", "53: insert.steps[0]", "no column named aa"),
        (INSERT, "INSERT INTO sinks(a) VALUES (?)", "53: insert.steps[0]", "no such table: sinks"),
        (INSERT, "INSERT INT sink(a) VALUES (?)", "53: insert.steps[0]", 'near "INT": syntax err'),
        (READBACK, "SELECT id, b FROM sink", "58: insert.readback[0]", "no such column: b"),
        ("DELETE FROM sink", "DELETE FROM drain", "48: insert.reset[0]", "no such table: drain"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_sqlites_words(
    catalogue: Clone, old: str, new: str, place: str, words: str
) -> None:
    catalogue.replace("scenarios/tiny.toml", old, new)
    told = check(catalogue, "insert", "all")
    assert told.startswith(f"CLONE/scenarios/tiny.toml:{place}")
    assert words in told
    assert told.endswith("; correct the SQL, or the fixture's tables")
    assert check(catalogue, "all") == ""


def test_a_mistake_in_a_fixture_is_told_once(catalogue: Clone) -> None:
    catalogue.replace("fixtures/tiny.toml", "sink(id INTEGER", "sink(id INTEGER NOT")
    assert check(catalogue, "insert", "all") == (
        'CLONE/fixtures/tiny.toml:7: SQLite says of its SQL: near "PRIMARY": syntax error'
    )
    assert check(catalogue, "noop") == ""


def test_each_mistake_is_told_once(catalogue: Clone) -> None:
    catalogue.replace("scenarios/tiny.toml", INSERT, "INSERT INTO sink(aa) VALUES (?)")
    catalogue.replace("scenarios/tiny.toml", READBACK, "SELECT id, b FROM sink")
    assert len(check(catalogue, "insert", "insert").splitlines()) == 2


def test_sql_that_stands_on_several_lines_and_holds_an_axis(catalogue: Clone) -> None:
    sql = '"""\nSELECT id, big, "wort"\nFROM {profile} WHERE id = ?"""'
    catalogue.replace("scenarios/tiny.toml", '"SELECT id, big, word FROM tiny WHERE id = ?"', sql)
    assert "tiny.toml:16: get.steps[0].sql: no such table: normalised" in check(catalogue, "get")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nosuchfunction(id) AS id, a FROM sink",
        "SELECT id, json_extract('{', '$') AS a FROM sink",
        "PRAGMA table_info(sink)",
        "SELECT json_valid('[]', 6, 7) AS id, 1 AS a",
    ],
)
def test_what_another_sqlite_may_take_is_left_to_the_oracle(catalogue: Clone, sql: str) -> None:
    catalogue.replace("scenarios/tiny.toml", READBACK, sql)
    assert check(catalogue, "insert") == ""


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        ("CREATE TEMP TABLE extra(x)", ""),
        ("CREATE VIRTUAL TABLE extra USING fts5(x, nosuchoption=1)", ""),
        ("CREATE TEMP TABLE other(x)", "no such table: extra"),
    ],
)
def test_tables_of_the_set_up_count(catalogue: Clone, setup: str, told: str) -> None:
    catalogue.replace(
        "scenarios/tiny.toml", 'reset = ["DELETE', f'setup = ["{setup}"]\nreset = ["DELETE'
    )
    catalogue.replace("scenarios/tiny.toml", INSERT, "INSERT INTO extra(x) VALUES (?)")
    heard = check(catalogue, "insert")
    assert told in heard
    assert bool(told) == bool(heard)


def test_all_that_a_runner_gets_was_compiled_letter_for_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def short(step: ScenarioStep, seed: str, size: int, earlier: list[Step]) -> Parameters | None:
        return pool_of(step.model_copy(update={"pool": 1}), seed, size, earlier)

    monkeypatch.setattr(jobs, "pool_of", short)
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


def test_a_step_that_is_to_fail_may_not_compile(catalogue: Clone) -> None:
    text = f'sql = "{INSERT}"'
    wrong = text.replace("sink", "sinks") + "\nfails = 1"
    catalogue.replace("scenarios/tiny.toml", text, wrong)
    assert check(catalogue, "insert") == ""


def test_the_place_of_a_scenario_whose_sql_is_written_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[other]\nx = [\n  [1, 2],\n]\n\n[[some.steps]]\nsql = "\\u0053ELECT 1"\n')
    assert compiled.place(tmp_path, "some", "SELECT 1") == f"{file}:6"
