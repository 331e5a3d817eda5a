"""Query plans in the words of today's SQLite, so that equal plans of two versions read alike.

SQLite before 3.36 names the kind of what it reads and then its alias; later ones name the alias
alone, or the table where it has none (`%S` in its src/wherecode.c and src/printf.c).
"""

import re

_ALIASED = re.compile(r"^(SCAN|SEARCH) (?:TABLE|SUBQUERY) \S+ AS (?=\S)")
_SUBQUERY = re.compile(r"^(SCAN|SEARCH) SUBQUERY (\d+)")
_TABLE = re.compile(r"^(SCAN|SEARCH) TABLE ")


def modern(line: str) -> str:
    """A line of EXPLAIN QUERY PLAN as SQLite writes it since 3.36."""
    line = _ALIASED.sub(r"\1 ", line)
    return _TABLE.sub(r"\1 ", _SUBQUERY.sub(r"\1 (subquery-\2)", line))
