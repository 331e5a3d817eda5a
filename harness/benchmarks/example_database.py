"""Makes the databases of the examples in `docs/workload`: `app.db`, 50 MB, and `chat.db`, 90 MB."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks import corpora

DOCUMENTS, OWNERS, WORDS = 40_000, 2_000, 10_000
SCHEMA = """
CREATE TABLE document(
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    changed INTEGER NOT NULL);
CREATE INDEX document_owner ON document(owner, changed);
CREATE TABLE word(word TEXT PRIMARY KEY, hits INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE visit(id INTEGER PRIMARY KEY, document INTEGER NOT NULL, at INTEGER NOT NULL);
"""


def write(file: Path, documents: int = DOCUMENTS) -> None:
    """Make `file`, with the same content each time."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(WORDS)]
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?)",
            (
                (
                    number,
                    f"owner-{rng.randrange(OWNERS):05}",
                    " ".join(rng.choices(words, k=5)),
                    " ".join(rng.choices(words, k=rng.randint(100, 220))),
                    1_700_000_000 + rng.randrange(10**7),
                )
                for number in range(1, documents + 1)
            ),
        )
        counted = ((word, rng.randrange(10**6)) for word in sorted(set(words)))
        connection.executemany("INSERT INTO word VALUES (?, ?)", counted)
        connection.commit()
        connection.execute("ANALYZE")


def main() -> None:
    """Those of both examples."""
    write(corpora.EXAMPLES / "app.db")
    for name, size in corpora.SIZES.items():
        corpora.database(corpora.EXAMPLES, name, size)
    for file in sorted(corpora.EXAMPLES.glob("*.db")):
        print(f"{file}: {file.stat().st_size / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
