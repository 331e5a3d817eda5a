"""Pieces of GitHub-flavoured Markdown in which untrusted text stays text."""

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$@])")
SPACE = re.compile(r"\s+")
BACKTICKS = re.compile(r"`+")


def text(value: str) -> str:
    """Untrusted text on one line, nothing in it read as markup, HTML or a mention."""
    return SPECIAL.sub(r"\\\1", SPACE.sub(" ", value).strip())


def code(value: str) -> str:
    """Untrusted text as a code span that holds in a table too."""
    flat = SPACE.sub(" ", value).strip()
    longest = max((len(run) for run in BACKTICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}".replace("|", "\\|")


def row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def top(header: Sequence[str], left: int = 1) -> str:
    """A table's header and rule: its first `left` columns are text and the others numbers."""
    return f"{row(header)}\n{row(['---'] * left + ['--:'] * (len(header) - left))}"


def grid(header: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A whole table."""
    return "\n".join([top(header, left), *map(row, lines)])
