"""Pieces of GitHub-flavoured Markdown in which untrusted text stays text."""

import re
from collections.abc import Iterable, Sequence

from sqlitmus.vocabulary.plain import visible

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$@])")
# All but the thin space of a number and its unit.
SPACE = re.compile(r"[^\S\u202f]+")
BACKTICKS = re.compile(r"`+")


def text(value: str) -> str:
    """Untrusted text on one line, nothing in it read as markup, HTML or a mention."""
    return SPECIAL.sub(r"\\\1", _flat(value))


def code(value: str) -> str:
    """Untrusted text as a code span that holds in a table too."""
    flat = _flat(value)
    longest = max((len(run) for run in BACKTICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}".replace("|", "\\|")


def _flat(value: str) -> str:
    return visible(SPACE.sub(" ", value)).strip()


def row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def grid(header: Sequence[str], lines: Iterable[str], numbers: Sequence[bool]) -> str:
    """A whole table of such lines; columns of `numbers` stand to the right."""
    rule = ["--:" if number else "---" for number in numbers]
    return "\n".join([row(header), row(rule), *lines])
