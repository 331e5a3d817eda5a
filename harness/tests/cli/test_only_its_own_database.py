"""SQL that somebody wrote reaches the copy of its own database and nothing else."""

import json
import sqlite3
import tomllib
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.workload.database import snapshot
from sqlitmus.workload.template import template
from tests.cli.calling import data, with_mode
from tests.cli.test_advise import SETTINGS
from tests.fakes.clone import Clone
from tests.refusals import refusal
from tests.workload.conftest import make

ROWS = tomllib.loads(data("ways.toml"))
WAYS: dict[str, tuple[str, str]] = ROWS["ways"]
HEAD = 'database = "app.db"\n'
INSERT = 'sql = "INSERT INTO event(document) VALUES (1)"\n'
# A query with a statement, which stands for @, and the place that is told.
QUERIES = {
    "sql": ("sql = @\n", "sql"),
    "statements": (
        'statements = [\n  { sql = "SELECT 1 AS v" },\n  { sql = @ },\n]\n',
        "statements[1].sql",
    ),
    "parameters": (
        'sql = "SELECT title FROM document WHERE id = ?"\nparameters = @\n',
        "parameters",
    ),
    "reset": (f'{INSERT}reset = [\n  "DELETE FROM event",\n  @,\n]\n', "reset[1]"),
}


class Outside:
    """A folder with a database that is none of the harness's business."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "outside"
        self.folder.mkdir()
        with closing(sqlite3.connect(self.folder / "mail.db", isolation_level=None)) as connection:
            connection.executescript("CREATE TABLE m(a); INSERT INTO m VALUES (1), (2);")
        self._before = self._held()

    def _held(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.folder.iterdir()}

    def sql(self, text: str) -> str:
        places = {"other": self.folder / "mail.db", "new": self.folder / "new.db"}
        for name, path in {**places, "folder": self.folder}.items():
            text = text.replace(f"{{{name}}}", path.as_posix())
        return text

    def untouched(self) -> bool:
        return self._held() == self._before


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    return Outside(tmp_path)


def untold(told: str, expected: dict[str, str]) -> list[str]:
    """The places of which `told` does not say these words."""
    lines = told.removeprefix("sqlitmus: ").splitlines()
    by_place = {at: line for at in expected for line in lines if line.startswith(f"{at}: ")}
    return [at for at, words in expected.items() if words not in by_place.get(at, "")]


def refusal_of(clone: Clone, outside: Outside, *words: str) -> str:
    """What is said where nothing ran and nothing outside was touched."""
    done = clone.sqlitmus(*words)
    assert (done.code, done.out) == (2, ""), done.err
    assert outside.untouched()
    return done.err


@pytest.fixture
def service(catalogue: Clone) -> Clone:
    make(catalogue.root / "app.db")
    catalogue.runner("a")
    return catalogue


@pytest.fixture
def own(catalogue: Clone) -> Clone:
    catalogue.runner("a")
    return catalogue


@pytest.mark.parametrize("place", QUERIES)
def test_a_workload_is_refused_by_line_and_nothing_runs(
    service: Clone, outside: Outside, place: str
) -> None:
    text, at = QUERIES[place]
    written, expected = HEAD, dict[str, str]()
    for number, (sql, words) in enumerate(WAYS.values()):
        before, after = text.split("@")
        written += f"[query.q{number}]\n{before}"
        line = written.count("\n") + 1
        expected[f"CLONE/my.toml:{line}: query.q{number}.{at}"] = words
        written += json.dumps(outside.sql(sql)) + after
    service.write("my.toml", written)
    said = refusal_of(service, outside, "workload", "verify", "my.toml")
    assert not untold(said, expected)


def test_a_trace_is_refused_by_line_and_nothing_runs(service: Clone, outside: Outside) -> None:
    lines, expected = list[str](), dict[str, str]()
    for sql, words in WAYS.values():
        expected[f"CLONE/app.jsonl:{len(lines) + 2}"] = words
        lines += ["BEGIN", outside.sql(sql), "COMMIT"]
    service.write("app.jsonl", "\n".join(json.dumps({"sql": sql}) for sql in lines))
    service.write("my.toml", 'database = "app.db"\ntrace = "app.jsonl"\n')
    said = refusal_of(service, outside, "workload", "my.toml")
    assert not untold(said, expected)


def test_what_the_databases_own_triggers_and_views_would_do_is_refused(
    service: Clone, outside: Outside
) -> None:
    with closing(sqlite3.connect(service.root / "app.db", isolation_level=None)) as connection:
        load = outside.sql("SELECT load_extension('{new}') AS v")
        connection.execute(f"CREATE TRIGGER t AFTER INSERT ON event BEGIN {load}; END")
        connection.execute(f"CREATE VIEW w AS {load}")
    before = (service.root / "app.db").read_bytes()
    service.write("my.toml", f'{HEAD}[query.a]\n{INSERT}[query.b]\nsql = "SELECT v FROM w"\n')
    said = refusal_of(service, outside, "workload", "verify", "my.toml")
    places = {"CLONE/my.toml:3: query.a.sql": "load_", "CLONE/my.toml:5: query.b.sql": "load_"}
    assert not untold(said, places)
    assert service.sqlitmus("workload", "init", "new.toml", "--database", "app.db").code == 0
    assert (service.root / "app.db").read_bytes() == before
    assert outside.untouched()


CARRIED: dict[str, str] = ROWS["carried"]


class Reaching(sqlite3.Connection):
    """Has a function that writes a file, and would let a schema call it."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.create_function("load_extension", 1, self.write, deterministic=True)

    @staticmethod
    def write(file: str) -> int:
        return Path(file).write_bytes(b"x")


@pytest.mark.parametrize("amount", [None, 10.0])
@pytest.mark.parametrize("carried", CARRIED)
def test_to_look_into_a_file_runs_nothing_that_it_carries(
    outside: Outside,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    carried: str,
    amount: float | None,
) -> None:
    file = make(tmp_path / "app.db")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Reaching))
    script = CARRIED[carried].replace("@", "load_extension('{new}')")
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(outside.sql(script))
    (outside.folder / "new.db").unlink(missing_ok=True)
    written: list[str] = []

    def begin() -> None:
        copy = snapshot(file, tmp_path, amount=amount).file
        written.append(template(copy, "app.db", "my.toml", "a"))

    if not refusal(begin):
        assert 'sql = "SELECT * FROM document' in written[0]
    assert outside.untouched()


SCENARIOS, FIXTURE = "scenarios/tiny.toml", "fixtures/tiny.toml"
RESET = 'reset = ["DELETE FROM sink"]'
STEP = '\n[[insert.steps]]\noperation = "run"\n'
VERIFY = ("verify", "--case", "insert", "--size", "s")
# Where a statement, which stands for @, is put in front of what is there.
SCENARIO = {
    "setup": (RESET, "setup = [\n@,\n]\n"),
    "reset": ('"DELETE FROM sink"]', "\n@,\n"),
    "steps": (STEP, f"{STEP}sql = @\n"),
    "steps, failing": (STEP, f"{STEP}sql = @\nfails = 19\n"),
    "writer.steps": (
        STEP,
        '\n[insert.writer]\noperations = 1\n[[insert.writer.steps]]\noperation = "run"\nsql = @\n',
    ),
    "readback": ("\n[[insert.readback]]\n", "\n[[insert.readback]]\nsql = @\ncolumns = {}\n"),
}


@pytest.mark.parametrize("place", SCENARIO)
def test_a_scenario_of_ones_own_is_refused_by_line_and_nothing_runs(
    own: Clone, outside: Outside, place: str
) -> None:
    anchor, text = SCENARIO[place]
    head, _, tail = text.partition("@")
    several = head.endswith("= [\n") or head == "\n"  # items of a list
    statements = {json.dumps(outside.sql(sql)): words for sql, words in WAYS.values()}
    if several:
        put = head + ",\n".join(statements) + tail
    elif place == "writer.steps":
        table = '[[insert.writer.steps]]\noperation = "run"\n'
        put = head + f"\n{table}sql = ".join(statements) + tail
    else:
        put = "".join(text.replace("@", sql) for sql in statements)
    own.replace(SCENARIOS, anchor, put + anchor)
    written = (own.root / SCENARIOS).read_text("utf-8")
    said = refusal_of(own, outside, *VERIFY)
    for number, (sql, words) in enumerate(statements.items()):
        line = written[: written.index(sql)].count("\n") + 1
        at = f"insert.{place.partition(',')[0]}[{number}]"
        (told,) = (each for each in said.splitlines() if f"{at}: " in each or f"{at}." in each)
        assert f"CLONE/{SCENARIOS}:{line}: " in told
        assert words in told


# Text of the fixture, and what takes its place.
TABLE = '    "CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER)",\n'
DEFINITION = {
    "tables": (TABLE, f"{TABLE}    @,\n"),
    "indexes": ("indexes = []", "indexes = [@]"),
    "files": ("indexes = []", "indexes = []\nfiles = @"),
    "databases": ("indexes = []", "indexes = []\ndatabases = @"),
}


def put(clone: Clone, place: str, sql: str) -> str:
    """Put a statement into the fixture; where it stands."""
    old, new = DEFINITION[place]
    clone.replace(FIXTURE, old, new.replace("@", json.dumps(sql)))
    text = (clone.root / FIXTURE).read_text("utf-8")
    return f"CLONE/{FIXTURE}:{text[: text.index(json.dumps(sql))].count(chr(10)) + 1}: "


@pytest.mark.parametrize("place", DEFINITION)
@pytest.mark.parametrize("way", ["attach", "vacuum into", "CTE", "several, unknown"])
def test_a_fixture_of_ones_own_is_refused_by_line_and_nothing_runs(
    own: Clone, outside: Outside, way: str, place: str
) -> None:
    sql, words = WAYS[way]
    at = put(own, place, outside.sql(sql))
    said = refusal_of(own, outside, *VERIFY)
    assert at in said
    assert words in said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("SELECT load_extension('{new}')", "it calls load_extension"),
        ("ATTACH '{other}' AS e", 'near "ATTACH": syntax error'),
    ],
)
def test_what_a_fixtures_trigger_would_do_is_refused(
    own: Clone, outside: Outside, body: str, words: str
) -> None:
    trigger = f"CREATE TRIGGER t AFTER INSERT ON tiny BEGIN {outside.sql(body)}; END"
    put(own, "tables", trigger)
    said = refusal_of(own, outside, *VERIFY)
    assert "CLONE/fixtures/tiny.toml:" in said
    assert words in said


PRAGMAS = [tuple(row.values()) for row in ROWS["pragma"]]


@pytest.mark.parametrize(
    ("file", "old", "new", "at"),
    [
        ("scenarios/profiles.toml", '["cache_size", -16000]', "@", "normalised.pragmas"),
        (
            SCENARIOS,
            RESET,
            f"{RESET}\nvariants.profile.normalised.pragmas = [@]",
            "insert.variants",
        ),
    ],
)
def test_pragmas_are_nothing_but_pragmas_that_keep_to_the_database(
    own: Clone, outside: Outside, file: str, old: str, new: str, at: str
) -> None:
    pairs = [
        json.dumps([outside.sql(name), outside.sql(value) if isinstance(value, str) else value])
        for name, value, _ in PRAGMAS
    ]
    own.replace(file, old, new.replace("@", "\n" + ",\n".join(pairs) + "\n"))
    written = (own.root / file).read_text("utf-8")
    said = refusal_of(own, outside, *VERIFY)
    for pair, (_, _, words) in zip(pairs, PRAGMAS, strict=True):
        line = written[: written.index(pair)].count("\n") + 1
        assert f"CLONE/{file}:{line}: {at}: {words}" in said


def test_what_settings_set_up_is_refused_by_line(clone: Clone, outside: Outside) -> None:
    attach = json.dumps(outside.sql("ATTACH '{other}' AS e"))
    group = 'scenario = "get"\n'
    clone.write("scenarios/settings.toml", SETTINGS.replace(group, f"{group}setup = [{attach}]\n"))
    with_mode(clone, "advise")
    clone.runner("a")
    said = refusal_of(clone, outside, "advise", "-r", "a", "--blocks", "2")
    line = SETTINGS[: SETTINGS.index(group)].count("\n") + 2
    assert f"CLONE/scenarios/settings.toml:{line}: " in said
    assert "it attaches another database" in said


@pytest.mark.parametrize("name", ["../outside/mail.db", "..", "a/b", "C:x", ""])
def test_files_beside_a_fixture_stay_beside_it(own: Clone, outside: Outside, name: str) -> None:
    query = f"SELECT '{name}', x'00' UNION ALL SELECT 'good', x'01'"
    put(own, "files", query.replace("../", "../../../"))
    said = refusal_of(own, outside, *VERIFY)
    assert "fixtures/tiny.toml: " in said
    assert " is no name of a file beside a database; " in said


def test_a_database_beside_a_fixture_is_named_and_not_any_that_a_path_leads_to(
    own: Clone, outside: Outside
) -> None:
    put(own, "databases", "DELETE FROM tiny WHERE id != ?")
    path = outside.sql("{other}")
    step = (
        f'{STEP.replace("run", "open-file")}sql = "SELECT count(*) AS n FROM tiny"\n'
        'columns = { n = "integer" }\n'
        f'parameters = [{{ type = "text", generator = "pattern", pattern = "{path}" }}]\n'
    )
    own.replace(SCENARIOS, STEP, f"{step}{STEP}")
    said = refusal_of(own, outside, *VERIFY)
    text = (own.root / SCENARIOS).read_text("utf-8")
    line = text[: text.index('"open-file"')].count("\n") + 1
    at = f"CLONE/{SCENARIOS}:{line}: insert.steps[0].parameters: "
    assert at in said
    assert "is no name of a file beside a database" in said


def test_a_fixture_has_no_content_of_elsewhere(own: Clone, outside: Outside) -> None:
    content = 'indexes = []\ncontent = "../../../../outside/mail"'
    own.replace(FIXTURE, "indexes = []", content)
    said = refusal_of(own, outside, *VERIFY)
    assert "CLONE/fixtures/tiny.toml: content: it is of a user's database" in said
