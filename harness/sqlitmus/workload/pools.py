"""Parameters of a statement as a pool of rows: from a list, generators, or the database."""

import random
import sqlite3
from collections.abc import Sequence
from typing import cast

from sqlitmus.catalog import generate
from sqlitmus.catalog.authorizer import Origin, compiled, confined
from sqlitmus.catalog.steps import Parameter
from sqlitmus.vocabulary.contract.step import Parameters, Type
from sqlitmus.workload.file import Drawn

LONGEST = 4096
Value = int | float | str | bytes | None
Row = Sequence[Value]
_TYPES: dict[type, Type] = {int: "integer", float: "real", str: "text", bytes: "blob"}


class NoPool(Exception):
    """Parameters that give no pool; the message says why and what to do."""


def rows_of(drawn: Drawn, connection: sqlite3.Connection, seed: str) -> list[Row]:
    """The rows that `drawn` gives, of which there may be any number; raises NoPool.

    In a query `random()` is seeded, so that the same file gives the same rows.
    """
    if isinstance(drawn, str):
        return _asked(drawn, connection, seed)
    if drawn and isinstance(drawn[0], Parameter):
        generators = [each for each in drawn if isinstance(each, Parameter)]
        return [*generate.pool(generators, LONGEST, 0, seed)]
    return [
        row if isinstance(row, list) else [row] for row in drawn if not isinstance(row, Parameter)
    ]


def _asked(sql: str, connection: sqlite3.Connection, seed: str) -> list[Row]:
    rng = random.Random(seed)
    connection.create_function("random", 0, lambda: rng.getrandbits(64) - 2**63)
    try:
        seen = compiled(connection, sql, Origin.QUERY)
        if seen.changes or not seen.rows:
            what = "writes" if seen.changes else "gives no rows"
            raise NoPool(f"the query for parameters {what}; write a SELECT")
        with confined(connection):
            rows: list[Row] = connection.execute(sql).fetchmany(LONGEST)
    except sqlite3.Error as error:
        raise NoPool(f"the query for parameters: SQLite says: {error}") from error
    if not rows:
        raise NoPool("the query for parameters finds no row")
    return rows


def pool(rows: Sequence[Row], count: int, *, distinct: bool) -> Parameters | None:
    """`rows` as the contract's pool for `count` placeholders; None without a placeholder.

    A pool's length is a power of two. Rows come again to fill it up; where they have to be
    `distinct`, because they are written, the last ones are left out instead. Raises NoPool.
    """
    if not count:
        if rows:
            raise NoPool("the SQL has no placeholder; take the parameters out")
        return None
    if not rows:
        raise NoPool(f"the SQL has {count} placeholders; say what parameters they get")
    widths = {len(row) for row in rows}
    if widths != {count}:
        raise NoPool(
            f"the SQL has {count} placeholders, a row of parameters {min(widths - {count})} values"
        )
    length = min(1 << (len(rows) - 1).bit_length(), LONGEST)
    if distinct and length > len(rows):
        length //= 2
    whole = [list(rows[n % len(rows)]) for n in range(length)]
    types: list[Type] = [_type([row[place] for row in whole], place) for place in range(count)]
    for place, kind in enumerate(types):
        if kind == "real":
            for row in whole:
                value = row[place]
                row[place] = None if value is None else float(value)
    return Parameters(types=types, rows=[[generate.encoded(v) for v in row] for row in whole])


def _type(values: Sequence[Value], place: int) -> Type:
    kinds: set[Type] = {_TYPES[type(value)] for value in values if value is not None}
    if kinds == {"integer", "real"}:
        return "real"
    if len(kinds) > 1:
        raise NoPool(
            f"parameter {place + 1} has values of several types ({', '.join(sorted(kinds))})"
        )
    return cast("Type", min(kinds, default="text"))


def share(whole: Parameters | None, number: int, of: int) -> Parameters | None:
    """Part `number` of a pool of which `of` steps each get their own, as long as it is long enough;
    else the whole."""
    if whole is None:
        return None
    length = len(whole.rows) >> (of - 1).bit_length()
    if not length:
        return whole
    return whole.model_copy(update={"rows": whole.rows[number * length : (number + 1) * length]})
