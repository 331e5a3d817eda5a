"""SQL that somebody wrote reaches the copy of its own database and nothing else."""

import json
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.workload.database import snapshot
from sqlitmus.workload.template import template
from tests.cli.calling import Call, data, with_mode
from tests.fakes.instant import Desk
from tests.refusals import refusal
from tests.workload.conftest import make

RUNNERS = ("a",)
ROWS = tomllib.loads(data("ways.toml"))
WAYS: dict[str, tuple[str, str]] = ROWS["ways"]
HEAD = 'database = "app.db"\n'
MINE, TINY, FIXTURE = "my.toml", "scenarios/tiny.toml", "fixtures/tiny.toml"
VERIFY = ("verify", "--case", "insert", "--size", "s")


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

    def check(self) -> None:
        assert self._held() == self._before


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    return Outside(tmp_path)


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A user's, with a database and a catalogue of one's own."""
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(desk.clone.root))
    for name in ("SCENARIOS", "FIXTURES"):
        own = desk.clone.root / name.lower()
        monkeypatch.setattr(f"sqlitmus.vocabulary.paths.{name}", own)
    make(desk.clone.root / "app.db")
    desk.clone.write(MINE, HEAD)
    return desk


Refused = Callable[..., None]


@pytest.fixture
def refused(desk: Desk, at_desk: Call, outside: Outside) -> Refused:
    """A command that is refused with each text of a file: by its line, the place that `at` says of
    its number, and these words. Nothing runs, and nothing outside is touched."""

    def check(*command: str, file: str, at: str, texts: dict[str, str]) -> None:
        done = at_desk(*command)
        assert (done.code, done.out) == (2, ""), done.err
        outside.check()
        assert desk.instant.verified == []
        written = (desk.clone.root / file).read_text("utf-8")
        lines = [line.removeprefix("sqlitmus: ") for line in done.err.splitlines()]
        for number, (text, words) in enumerate(texts.items()):
            line = written[: written.index(text)].count("\n") + 1
            place = f"CLONE/{file}:{line}: {at.format(number)}"
            said = [each for each in lines if each.startswith(place)]
            assert words in "".join(said), (place, lines)

    return check


def as_toml(outside: Outside) -> dict[str, str]:
    """Each way to reach further, and in which words it is refused."""
    return {json.dumps(outside.sql(sql)): words for sql, words in WAYS.values()}


def test_a_trace_is_refused_by_line(desk: Desk, outside: Outside, refused: Refused) -> None:
    texts = as_toml(outside)
    lines = ['{"sql": "BEGIN"}\n{"sql": @}\n{"sql": "COMMIT"}\n'.replace("@", sql) for sql in texts]
    desk.clone.write("app.jsonl", "".join(lines))
    desk.clone.write(MINE, f'{HEAD}trace = "app.jsonl"\n')
    refused("workload", MINE, file="app.jsonl", at="", texts=texts)


def test_what_the_databases_own_triggers_and_views_would_do_is_refused(
    desk: Desk, at_desk: Call, outside: Outside, refused: Refused
) -> None:
    file = desk.clone.root / "app.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        load = outside.sql("SELECT load_extension('{new}') AS v")
        connection.execute(f"CREATE TRIGGER t AFTER INSERT ON event BEGIN {load}; END")
        connection.execute(f"CREATE VIEW w AS {load}")
    before = file.read_bytes()
    texts = {'"INSERT INTO event(document) VALUES (1)"': "load_", '"SELECT v FROM w"': "load_"}
    queries = [f"[query.q{number}]\nsql = {sql}\n" for number, sql in enumerate(texts)]
    desk.clone.write(MINE, HEAD + "".join(queries))
    refused("workload", "verify", MINE, file=MINE, at="query.q{}.sql: ", texts=texts)
    assert at_desk("workload", "init", "new.toml", "--database", "app.db").code == 0
    assert file.read_bytes() == before
    outside.check()


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
    outside.check()


PROFILES = "scenarios/profiles.toml"
DELETE = '"DELETE FROM sink"]'
RESET = f"reset = [{DELETE}"
STEP = '\n[[insert.steps]]\noperation = "run"\n'
BACK = "\n[[insert.readback]]\n"
WRITER = '[[insert.writer.steps]]\noperation = "run"\n'
VARIANT = "variants.profile.normalised.pragmas"
QUERY = "[query.q#]\n"
INSERT = 'sql = "INSERT INTO event(document) VALUES (1)"\n'
SELECT = 'sql = "SELECT title FROM document WHERE id = ?"\n'
TWO = 'statements = [\n  { sql = "SELECT 1 AS v" },\n  { sql = @ },\n]\n'
# A file, a text in it, and what takes its place: all statements stand for @, of each this, in which
# its number stands for #.
PLACES = {
    "query.q{}.sql: ": (MINE, HEAD, f"{HEAD}@", f"{QUERY}sql = @\n"),
    "query.q{}.statements[1].sql: ": (MINE, HEAD, f"{HEAD}@", f"{QUERY}{TWO}"),
    "query.q{}.parameters: ": (MINE, HEAD, f"{HEAD}@", f"{QUERY}{SELECT}parameters = @\n"),
    "query.q{}.reset[1]: ": (
        *(MINE, HEAD, f"{HEAD}@"),
        f'{QUERY}{INSERT}reset = [\n  "DELETE FROM event",\n  @,\n]\n',
    ),
    "insert.setup[{}]": (TINY, RESET, f"setup = [\n@]\n{RESET}", "@,\n"),
    "insert.reset[{}]": (TINY, DELETE, f"\n@{DELETE}", "@,\n"),
    "insert.steps[{}].": (TINY, STEP, f"@{STEP}", f"{STEP}sql = @\n"),
    "insert.steps[{}]": (TINY, STEP, f"@{STEP}", f"{STEP}sql = @\nfails = 19\n"),
    "insert.writer.steps[{}]": (
        *(TINY, STEP),
        f"\n[insert.writer]\noperations = 1\n@{STEP}",
        f"{WRITER}sql = @\n",
    ),
    "insert.readback[{}]": (TINY, BACK, f"@{BACK}", f"{BACK}sql = @\ncolumns = {{}}\n"),
    "normalised.pragmas: ": (PROFILES, '["cache_size", -16000]', "\n@", "@,\n"),
    "insert.variants: ": (TINY, RESET, f"{RESET}\n{VARIANT} = [\n@]", "@,\n"),
}
PRAGMAS = [list(row.values()) for row in ROWS["pragma"]]


@pytest.mark.parametrize("at", PLACES)
def test_a_file_of_ones_own_is_refused_by_line(
    desk: Desk, outside: Outside, refused: Refused, at: str
) -> None:
    file, old, new, each = PLACES[at]
    texts = as_toml(outside)
    if at in {"normalised.pragmas: ", "insert.variants: "}:
        texts = {outside.sql(json.dumps(row[:2])): row[2] for row in PRAGMAS}
    put = [each.replace("@", sql).replace("#", str(n)) for n, sql in enumerate(texts)]
    desk.clone.replace(file, old, new.replace("@", "".join(put)))
    command = ("workload", "verify", MINE) if file == MINE else VERIFY
    refused(*command, file=file, at=at, texts=texts)


TABLE = '    "CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER)",\n'
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON tiny BEGIN"
# Text of the fixture, and what takes its place.
DEFINITION = {
    "tables": (TABLE, f"{TABLE}    @,\n"),
    "indexes": ("indexes = []", "indexes = [@]"),
    "files": ("indexes = []", "indexes = []\nfiles = @"),
    "databases": ("indexes = []", "indexes = []\ndatabases = @"),
}
OF_A_FIXTURE = [
    *((place, *WAYS["attach"]) for place in DEFINITION),
    *((place, *WAYS["vacuum into"]) for place in DEFINITION),
    *((place, *WAYS["CTE"]) for place in DEFINITION),
    *((place, *WAYS["several, unknown"]) for place in DEFINITION),
    ("tables", f"{TRIGGER} SELECT load_extension('{{new}}'); END", "it calls load_extension"),
    ("tables", f"{TRIGGER} ATTACH '{{other}}' AS e; END", 'near "ATTACH": syntax error'),
]


def test_a_fixture_of_ones_own_is_refused_by_line(
    desk: Desk, outside: Outside, refused: Refused
) -> None:
    text = (desk.clone.root / FIXTURE).read_text("utf-8")
    for place, sql, words in OF_A_FIXTURE:
        old, new = DEFINITION[place]
        put = json.dumps(outside.sql(sql))
        desk.clone.replace(FIXTURE, old, new.replace("@", put))
        refused(*VERIFY, file=FIXTURE, at="", texts={put: words})
        desk.clone.write(FIXTURE, text)


def named(name: str) -> str:
    """A fixture that has a file of this name beside its database."""
    query = f"SELECT '{name}', x'00' UNION ALL SELECT 'good', x'01'"
    return f"indexes = []\nfiles = {json.dumps(query)}"


ELSEWHERE = {
    **{
        named(name): " is no name of a file beside a database; "
        for name in ("../../../outside/mail.db", "..", "a/b", "C:x", "")
    },
    'indexes = []\ncontent = "../../../../outside/mail"': "content: it is of a user's database",
}


@pytest.mark.parametrize("text", ELSEWHERE)
def test_files_and_content_of_a_fixture_are_its_own(
    desk: Desk, at_desk: Call, outside: Outside, text: str
) -> None:
    desk.clone.replace(FIXTURE, "indexes = []", text)
    done = at_desk(*VERIFY)
    assert (done.code, done.out) == (2, "")
    assert "fixtures/tiny.toml: " in done.err
    assert ELSEWHERE[text] in done.err
    outside.check()


def test_what_settings_set_up_is_refused_by_line(
    desk: Desk, outside: Outside, refused: Refused
) -> None:
    attach = json.dumps(outside.sql("ATTACH '{other}' AS e"))
    group = 'scenario = "get"\n'
    settings = data("settings.toml").replace(group, f"{group}setup = [{attach}]\n")
    file = "scenarios/settings.toml"
    desk.clone.write(file, settings)
    with_mode(desk.clone, "advise")
    texts = {attach: "it attaches another database"}
    refused("advise", "-r", "a", "--blocks", "2", file=file, at="", texts=texts)


def test_a_database_beside_a_fixture_is_named_and_not_any_that_a_path_leads_to(
    desk: Desk, outside: Outside, refused: Refused
) -> None:
    old, new = DEFINITION["databases"]
    desk.clone.replace(FIXTURE, old, new.replace("@", '"DELETE FROM tiny WHERE id != ?"'))
    step = (
        f'{STEP.replace("run", "open-file")}sql = "SELECT count(*) AS n FROM tiny"\n'
        'columns = { n = "integer" }\n'
        'parameters = [{ type = "text", generator = "pattern", pattern = "{other}" }]\n'
    )
    desk.clone.replace(TINY, STEP, f"{outside.sql(step)}{STEP}")
    texts = {'"open-file"': "is no name of a file beside a database"}
    refused(*VERIFY, file=TINY, at="insert.steps[0].parameters: ", texts=texts)
