"""Database files: named by their definition, the same everywhere, in the journal mode asked for."""

import contextlib
import os
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import fixture, generate
from sqlitmus.catalog.scenario import Fixture, Generator
from tests.known import KNOWN
from tests.refusals import refused, unfit

TINY: dict[str, Any] = {
    "title": "Tiny",
    "sizes": {"s": 5, "m": 50},
    "seed": 1,
    "tables": [
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, w TEXT, r REAL, b BLOB)",
        "CREATE TABLE c(id INTEGER PRIMARY KEY, n INTEGER, w TEXT, r REAL, b BLOB)",
    ],
    "indexes": ["CREATE INDEX t_n ON t(n)"],
    "fill": {
        "t": {
            "rows": "size",
            "id": {"generator": "sequence"},
            "n": {"generator": "permutation", "offset": 100, "scale": 2},
            "w": {"generator": "text", "min": 2, "max": 8, "nulls": 0.3},
            "r": {"generator": "real", "min": 0.0, "max": 1.0},
            "b": {"generator": "blob", "min": 1, "max": 3},
        },
        "c": {"rows": "size", "copy": "t"},
    },
}


def definition(**changes: Any) -> Fixture:
    return Fixture.model_validate({**TINY, **changes})


def read(file: Path, *sql: str) -> list[Any]:
    """The rows of each query."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return [connection.execute(each).fetchall() for each in sql]


def test_the_rows_of_the_encoding_claim_are_as_long_as_published() -> None:
    """As long as the programs of the publication print, which add up all characters."""
    spec = KNOWN.fixtures["people"]
    texts = [spec.fill["users"][name] for name in ("name", "email", "description")]
    columns = [
        generate.column(text, 50_000, 50_000, "s") for text in texts if isinstance(text, Generator)
    ]
    assert len(columns) == 3
    assert sum(len(str(value)) for values in columns for value in values) == 123_377_790


def test_content_is_pinned(tmp_path: Path) -> None:
    file = fixture.ensure("tiny", definition(), "s", "delete", tmp_path)
    table, copied = read(file, "SELECT * FROM t", "SELECT * FROM c")
    assert copied == table
    assert [row[0] for row in table] == [1, 2, 3, 4, 5]
    assert sorted(row[1] for row in table) == [100, 102, 104, 106, 108]
    assert sha256(repr(table).encode()).hexdigest()[:16] == "73c23fc65c5ede9a", table


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where fixtures of the clone are that a test asked for; none changes them."""
    return tmp_path_factory.mktemp("filled")


@pytest.mark.parametrize("name", KNOWN.fixtures)
def test_the_clones_fixtures_fill_every_table_with_nulls_only_where_they_are_drawn(
    name: str, filled: Path
) -> None:
    """`sink` is filled by scenarios, one of which leaves columns out."""
    spec = KNOWN.fixtures[name]
    file = fixture.ensure(name, spec, "s", "wal", filled)
    assert read(file, "PRAGMA integrity_check") == [[("ok",)]]
    assert read(file, "SELECT * FROM sqlite_stat1")[0]
    for table, fill in spec.fill.items():
        drawn = fill if "copy" not in fill else spec.fill[str(fill["copy"])]
        count, info = read(file, f"SELECT count(*) FROM {table}", f"PRAGMA table_info({table})")
        rows = str(fill.get("rows", "size"))
        times = int(rows.partition("*")[2] or 1)
        assert count == [(int(rows) if rows.isdecimal() else times * spec.sizes["s"],)]
        for _, column, kind, not_null, _, key in info:
            generator = drawn[column]
            assert isinstance(generator, Generator)
            never = bool(not_null) or (kind == "INTEGER" and bool(key))
            assert never == (generator.nulls == 0), f"{table}.{column}"


def test_users_with_nulls_are_the_users(filled: Path) -> None:
    """What is not NULL is equal, and of the values that can be NULL about a quarter is."""
    tables: list[list[Any]] = []
    for name in ("users", "users-nullable"):
        file = fixture.ensure(name, KNOWN.fixtures[name], "s", "wal", filled)
        tables += read(file, "SELECT id, created, email, score, active FROM users ORDER BY id")
    nulls = [0] * 5
    for plain, some in zip(*tables, strict=True):
        for place, (value, other) in enumerate(zip(plain, some, strict=True)):
            nulls[place] += other is None
            assert other in (None, value)
    share = [count / len(tables[0]) for count in nulls]
    assert share == pytest.approx([0, 0.25, 0.25, 0.25, 0.25], abs=0.02)


def test_a_page_size_is_that_of_the_file(filled: Path) -> None:
    spec = KNOWN.fixtures["ledger"]
    small = fixture.ensure("ledger", spec, "s", "delete", filled)
    large = fixture.ensure("ledger", spec, "s", "wal", filled, page_size=16_384)
    sizes = [int.from_bytes(file.read_bytes()[16:18], "big") for file in (small, large)]
    assert sizes == [4096, 16_384]


def test_each_tenant_has_a_database_with_its_own_row(filled: Path) -> None:
    spec = KNOWN.fixtures["tenants"]
    file = fixture.ensure("tenants", spec, "s", "wal", filled)
    folder = fixture.folder_of(file)
    numbers = range(1, spec.sizes["s"] + 1)
    assert sorted(int(one.name) for one in folder.iterdir()) == list(numbers)
    for number in numbers:
        assert read(folder / str(number), "SELECT id FROM tenant") == [[(number,)]]
    shutil.rmtree(folder)
    fixture.ensure("tenants", spec, "s", "wal", filled)
    assert len(list(folder.iterdir())) == spec.sizes["s"]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_file_has_its_journal_mode_and_is_used_again(tmp_path: Path, mode: str) -> None:
    file = fixture.ensure("tiny", definition(), "s", mode, tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {file.name, fixture.beside(file).name}
    assert read(file, "PRAGMA journal_mode") == [[(mode,)]]
    before = file.stat()
    assert fixture.ensure("tiny", definition(), "s", mode, tmp_path) == file
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_another_definition_size_or_mode_has_another_name_and_two_builds_are_the_same_bytes(
    tmp_path: Path,
) -> None:
    names = {
        fixture.key("tiny", each, size, mode)
        for each in (definition(), definition(seed=2), definition(indexes=[]))
        for size in "sm"
        for mode in ("wal", "delete")
        for _ in range(2)
    }
    assert len(names) == 12
    assert all(name.startswith("tiny-") for name in names)
    first, second = tmp_path / "1.db", tmp_path / "2.db"
    for file in (first, second):
        fixture.build(definition(), "m", "delete", file)
    assert first.read_bytes() == second.read_bytes()


def test_files_hold_what_rows_hold_and_are_made_again_when_they_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = definition(files="SELECT id, b FROM t")
    file = fixture.ensure("tiny", tiny, "s", "wal", tmp_path)
    folder = fixture.folder_of(file)
    rows = {str(key): content for key, content in read(file, "SELECT id, b FROM t")[0]}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == rows
    assert fixture.bytes_of_files(file) == 5 * 4096
    names = {file.name, fixture.beside(file).name, folder.name}
    assert {path.name for path in tmp_path.iterdir()} == names

    def free() -> int:
        shutil.rmtree(folder)
        return 2**30

    # what goes away while it is read ahead is left out
    monkeypatch.setattr("sqlitmus.machine.system.free_memory", free)
    fixture.into_page_cache(file, folder)
    assert not folder.exists()
    fixture.ensure("tiny", tiny, "s", "wal", tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == rows


def test_a_file_that_is_not_as_it_was_built_is_built_again(tmp_path: Path) -> None:
    told: list[str] = []

    def ensure() -> Path:
        return fixture.ensure("tiny", definition(), "s", "wal", tmp_path, say=told.append)

    file = ensure()
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"x")
    assert ensure().read_bytes() == content
    log = file.with_name(f"{file.name}-wal")
    log.write_bytes(b"pages")
    assert ensure().read_bytes() == content
    assert not log.exists()
    fixture.beside(file).unlink()
    assert ensure().read_bytes() == content
    file.unlink()
    assert ensure().read_bytes() == content
    changed = f"{file}: this fixture has changed since it was built; it is built again"
    unsealed = f"{file}: nothing tells what this fixture held when it was built; it is built again"
    assert told == [changed, changed, unsealed]


def test_bad_sql_is_told_with_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    broken = definition(indexes=["CREATE INDEX x ON t(nosuch)"])
    with refused("^fixtures/tiny.toml: SQLite says of its SQL: no such column: nosuch$"):
        fixture.ensure("tiny", broken, "s", "delete", tmp_path)
    assert list(tmp_path.iterdir()) == []
    with refused("unable to open database file"):
        fixture.ensure("tiny", definition(), "s", "delete", tmp_path / "gone")
    with refused("there is no size xl; expected one of s, m"):
        fixture.rows(definition(), "xl")


def test_a_fresh_copy_has_nothing_of_the_former_writer(tmp_path: Path) -> None:
    source = fixture.ensure("tiny", definition(), "s", "wal", tmp_path)
    target = tmp_path / "copy.db"
    fixture.fresh_copy(source, target)
    with contextlib.closing(sqlite3.connect(target)) as writer:
        writer.execute("DELETE FROM t")
        writer.commit()
        left = tmp_path / "copy.db-wal"
        assert left.stat().st_size
        torn = left.read_bytes()
    left.write_bytes(torn)
    fixture.fresh_copy(source, target)
    assert not left.exists()
    assert target.read_bytes() == source.read_bytes()
    with unfit(r"x\.db: a copy of the fixture cannot be made: No such file"):
        fixture.fresh_copy(tmp_path / "nothing.db", tmp_path / "x.db")


def test_copies_of_users_databases_are_each_processs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    mine = fixture.snapshots()
    dead = mine.with_name("999999999")
    dead.mkdir()
    (mine / "copy.db").touch()
    assert fixture.snapshots() == mine
    assert [file.name for file in mine.iterdir()] == ["copy.db"]
    assert not dead.exists()
    fixture.forget_snapshots()
    assert not mine.exists()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sealed file."""
    made = tmp_path / "some.db"
    made.write_bytes(b"pages")
    fixture.put(made)
    return made


def test_only_a_touched_file_is_read_and_that_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    digest = fixture.digest

    def counted(file: Path) -> str:
        read.append(file)
        return digest(file)

    monkeypatch.setattr(fixture, "digest", counted)
    assert fixture.seal_damage(file) is None
    assert read == []
    os.utime(file, ns=(1, 1))
    assert [fixture.seal_damage(file), fixture.seal_damage(file)] == [None, None]
    assert read == [file]


def test_a_seal_tells_what_became_of_a_file(file: Path, tmp_path: Path) -> None:
    before = file.stat()
    file.write_bytes(b"pagez")  # of the same size and age
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fixture.seal_damage(file) == "changed"
    file.write_bytes(b"pages")
    for log in (file.with_name(f"{file.name}{suffix}") for suffix in ("-wal", "-journal")):
        log.touch()
        assert fixture.seal_damage(file) is None
        log.write_bytes(b"a page")
        assert fixture.seal_damage(file) == "changed"
        log.unlink()
    other = tmp_path / "other.db"
    other.write_bytes(b"others")
    fixture.put(file, of=other)
    assert fixture.seal_damage(file) == "changed"
    other.replace(file)
    assert fixture.seal_damage(file) is None
    fixture.beside(file).write_text("{", "utf-8")
    assert fixture.seal_damage(file) == "unsealed"
    file.unlink()
    assert fixture.seal_damage(file) == "absent"
