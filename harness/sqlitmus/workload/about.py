"""What is told of a user's database."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlitmus.vocabulary.contract.model import Model


class About(Model):
    """What the report tells of a database; `content` and `schema_hash` are SHA-256, shortened."""

    name: str
    bytes: int
    page_size: int
    encoding: str
    journal_mode: str
    user_version: int
    tables: int
    schema_hash: str
    content: str


def about(name: str, file: Path, journal_mode: str) -> About:
    """What a copy in `file` tells of the database of that `name`. Raises sqlite3.Error, OSError."""
    with closing(sqlite3.connect(file)) as connection:

        def pragma(name: str) -> str:
            return str(connection.execute(f"PRAGMA {name}").fetchone()[0])

        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
        schema = rows.fetchall()
        facts = {
            "page_size": int(pragma("page_size")),
            "encoding": pragma("encoding"),
            "user_version": int(pragma("user_version")),
        }
    content = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(2**20):
            content.update(block)
    return About.model_validate(
        {
            **facts,
            "name": name,
            "bytes": file.stat().st_size,
            "journal_mode": journal_mode,
            "tables": sum(k == "table" and not n.startswith("sqlite_") for k, n, _ in schema),
            "schema_hash": hashlib.sha256(repr(schema).encode()).hexdigest()[:16],
            "content": content.hexdigest()[:16],
        }
    )
