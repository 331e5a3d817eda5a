"""How a query's writes are undone before the next iteration, and proven after the last."""

import sqlite3
from collections.abc import Mapping

from sqlitmus.catalog.authorizer import Origin, Refused
from sqlitmus.catalog.steps import Query as Readback
from sqlitmus.workload.statements import judged


def reset(connection: sqlite3.Connection, written: Mapping[str, set[str]]) -> list[str]:
    """Statements that undo inserts into tables that nothing else happens to.

    New rows are those with a rowid beyond all that there were; which rows an update or a deletion
    changes is not known, so an update has to be one that can be done again, and a deletion needs a
    `reset` in the file. Raises Refused for what cannot be undone so.
    """
    statements: list[str] = []
    for table in _in_order(connection, written):
        actions = written[table]
        if "delete" in actions:
            raise Refused(
                f"it deletes from {table}; say in `reset` how the rows come back before the next "
                "iteration"
            )
        if "insert" in actions:
            statements.append(_without_new_rows(connection, table))
            statements += _numbering(connection, table)
    return statements


def _in_order(connection: sqlite3.Connection, written: Mapping[str, set[str]]) -> list[str]:
    """The tables, what was written last first; but those that a deletion from another writes to by
    its triggers after that. An FTS5 table is damaged by what is deleted from it twice."""
    following: set[str] = set()
    for table in written:
        deletion = judged(connection, f"DELETE FROM {quoted(table)}", Origin.QUERY)
        following |= deletion.writes.keys() - {table}
    last_first = [*written][::-1]
    return sorted(last_first, key=lambda table: table in following)


def _without_new_rows(connection: sqlite3.Connection, table: str) -> str:
    try:
        (most,) = connection.execute(f"SELECT max(rowid) FROM {quoted(table)}").fetchone()
    except sqlite3.Error as error:
        raise Refused(
            f"{table} has no rowid, by which new rows would be known; say in `reset` how they go"
        ) from error
    return f"DELETE FROM {quoted(table)} WHERE rowid > {most or 0}"


def _numbering(connection: sqlite3.Connection, table: str) -> list[str]:
    """What lets the rowids of an AUTOINCREMENT table begin where they did."""
    try:
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        row = connection.execute(query, [table]).fetchone()
    except sqlite3.Error:  # no table has such ids
        return []
    name = table.replace("'", "''")
    if row is None:
        return [f"DELETE FROM sqlite_sequence WHERE name = '{name}'"]
    return [f"UPDATE sqlite_sequence SET seq = {row[0]} WHERE name = '{name}'"]


def readback(written: Mapping[str, set[str]]) -> list[Readback]:
    """Queries that show what was written: how many rows each table holds."""
    return [
        Readback(sql=f"SELECT count(*) AS held FROM {quoted(table)}", columns={"held": "integer"})
        for table in sorted(written)
    ]


def quoted(name: str) -> str:
    """`name` as an identifier in SQL."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
