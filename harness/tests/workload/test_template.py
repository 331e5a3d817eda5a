"""The file that a user begins with: what it proposes, and that it can be measured as it is."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.corpora import build
from sqlitmus.workload.template import quoted_if_needed, template
from tests import left_out
from tests.fakes.clone import Clone
from tests.faults.stage import Stage
from tests.refusals import refused
from tests.workload.making import Service, make

SCHEMA = """
CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE item(
    id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owner(id), price NUMERIC, "group" ANY,
    created_at TEXT, late AS (price > 3));
CREATE INDEX item_owner ON item(owner);
CREATE INDEX item_recent ON item(owner, created_at) WHERE price > 0;
CREATE INDEX item_name ON item(lower(created_at));
CREATE TABLE empty(id INTEGER PRIMARY KEY);
CREATE VIRTUAL TABLE words USING fts5(word);
CREATE VIRTUAL TABLE box USING rtree(id, low, high);
INSERT INTO owner VALUES (1, 'a'), (2, 'b');
INSERT INTO item(owner, price, "group", created_at) VALUES
    (1, 2, 1, '2026-01-01'), (2, 2.5, 'x', '2026-01-02'), (1, 4, x'00', NULL);
"""


def queries(file: Path) -> dict[str, Any]:
    """What is proposed, by name."""
    return tomllib.loads(template(file, "app.db", "my.toml", "app.db"))["query"]


def test_keys_and_indexes_suggest_queries(tmp_path: Path) -> None:
    text = template(make(tmp_path, SCHEMA), "app.db", "my.toml", "app.db")
    casts = 'CAST(price AS REAL) AS price, CAST("group" AS BLOB) AS "group"'
    columns = f"id, owner, {casts}, created_at, late"
    assert {name: query["sql"] for name, query in tomllib.loads(text)["query"].items()} == {
        "get-item": f"SELECT {columns} FROM item WHERE id = ?",
        "item-by-owner": f"SELECT {columns} FROM item WHERE owner = ? ORDER BY id LIMIT 50",
        "recent-item-by-owner": (
            f"SELECT {columns} FROM item WHERE owner = ? AND (price > 0) "
            "ORDER BY created_at DESC, id DESC LIMIT 50"
        ),
        "get-owner": "SELECT * FROM owner WHERE id = ?",
    }
    listed = [line.split()[1] for line in text.splitlines() if " rows): " in line]
    assert listed == ["empty", "item", "owner"], "tables of its virtual tables are no tables"


def test_names_are_quoted_where_sql_needs_it() -> None:
    plain = ["id", "Key", "row", "_a1", "rowid"]
    assert [quoted_if_needed(name) for name in plain] == plain
    other = ["group", "nothing", "current_time", "a b", "é", "1a", "select"]
    assert [quoted_if_needed(name) for name in other] == [f'"{name}"' for name in other]
    assert quoted_if_needed('a"b') == '"a""b"'


def test_an_insert_is_proposed_where_no_key_forbids_it(database: Path) -> None:
    add = queries(database)["add-document"]
    assert add["transaction"] == "immediate"
    assert add["sql"] == "INSERT INTO document(owner, title, size, body) VALUES (?, ?, ?, ?)"


def test_what_needs_a_collation_that_is_absent_is_not_proposed(service: Service) -> None:
    database = service.folder / "app.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.create_collation("icu", lambda a, b: (a > b) - (a < b))
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE icu)")
        connection.execute("CREATE INDEX i ON t(a)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        connection.commit()
    assert list(queries(database)) == ["get-t"]


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    other = tmp_path / "a.txt"
    other.write_text("text")
    with refused(r"a\.txt: it is no SQLite database"):
        template(other, "a.txt", "my.toml", "a.txt")


def test_from_init_to_the_answers_without_an_edit(tmp_path: Path, hyperfine_program: str) -> None:
    left_out.tool("rust")
    clone = Stage(tmp_path, hyperfine_program).real()
    (clone.root / "mine").mkdir()
    build(clone.root, "chat")
    begun = clone.sqlitmus("workload", "init", "mine/my.toml", "--database", "chat.db")
    assert begun.code == 0, begun.err
    assert 'database = "../chat.db"' in (clone.root / "mine/my.toml").read_text("utf-8")
    done = clone.sqlitmus("workload", "verify", "mine/my.toml", "-r", "rust")
    assert done.code == 0, done.out + done.err


def test_a_file_is_not_written_over(clone: Clone) -> None:
    clone.write("my.toml", "")
    done = clone.sqlitmus("workload", "init", "my.toml", "--database", "app.db")
    assert (done.code, done.err) == (
        2,
        "sqlitmus: CLONE/my.toml is there already; choose another name, or remove it\n",
    )
