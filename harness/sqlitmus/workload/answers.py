"""What a reading statement gives for its pool: the types of its columns, rows, what it costs."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.steps import ColumnType
from sqlitmus.workload.pools import Row
from sqlitmus.workload.statements import STEP, limited

MOST_ROWS = 200_000
_KINDS = {int: "integer", float: "real", str: "text", bytes: "blob"}


@dataclass(slots=True)
class Answered:
    """What a reading statement gave for all of its pool: types by column, rows, and instructions
    of SQLite's virtual machine per execution, which do not depend on the machine's pace; and
    whether all texts begin and end in ASCII."""

    columns: dict[str, ColumnType]
    rows: int
    instructions: float
    ascii_ends: bool


def answer(
    connection: sqlite3.Connection,
    sql: str,
    pool: Sequence[Row],
    *,
    first: bool,
) -> Answered:
    """Run a reading statement, which was compiled, with each row of `pool`, or with none, and see
    what comes.

    `first` fetches the first row only. Raises Refused for columns that have one name, or whose
    values have several types, which no typed getter reads, and for a statement that takes too long.
    """
    names: list[str] = []
    types: list[set[type]] = []
    rows, ascii_ends = 0, True
    with limited(connection) as ticks, confined(connection):
        for bound in pool or [[]]:
            cursor = connection.execute(sql, bound)
            if not names:
                names = _names(cursor)
                types = [set() for _ in names]
            fetched = [cursor.fetchone() or ()] if first else cursor
            for row in cast("Iterable[tuple[object, ...]]", fetched):
                rows += bool(row)
                for seen, value in zip(types, row, strict=False):
                    seen.add(type(value))
                    if isinstance(value, str) and value:
                        ascii_ends = ascii_ends and (value[0] + value[-1]).isascii()
                if rows > MOST_ROWS:
                    break
            cursor.close()
            if rows > MOST_ROWS:
                break
    columns: dict[str, ColumnType] = {}
    for name, seen in zip(names, types, strict=True):
        kinds = sorted(_KINDS[kind] for kind in seen if kind in _KINDS)
        if len(kinds) > 1:
            raise Refused(
                f"column {name} holds values of several types ({', '.join(kinds)}); give it one "
                f"with CAST({name} AS …)"
            )
        nullable = "?" if type(None) in seen else ""
        kind = f"{kinds[0] if kinds else 'text'}{nullable}"
        columns[name] = cast("ColumnType", kind)
    return Answered(columns, rows, STEP * ticks() / max(len(pool), 1), ascii_ends)


def _names(cursor: sqlite3.Cursor) -> list[str]:
    names = [str(column[0]) for column in cursor.description or ()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused(f"two columns are called {twice[0]}; give one another name with AS")
    return names
