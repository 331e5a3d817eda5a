"""Texts: numbers with their nouns, names in a row, in SQL and in files, names that do not exist,
values of pragmas, text of unknown origin.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence

SHOWN = 3  # names in a sentence before it only counts the others


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 case`, `2,000 cases`; `plural` where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def capital(text: str) -> str:
    """With a capital letter; the rest keeps its case."""
    return text[:1].upper() + text[1:]


def first_sentences(text: str, most: int = 1) -> str:
    """Up to the first full stops that a space follows."""
    return " ".join(re.split(r"(?<=[.])\s", text, maxsplit=most)[:most])


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str]) -> str:
    """The first few names, and how many there are besides."""
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


def by_value(values: Mapping[str, str], most: int = 1_000) -> str:
    """`1: a and b; 2: c`, the names gathered under the value they share; of more values than `most`
    the first, how many there are besides, and the first few names of each."""
    holders: dict[str, list[str]] = {}
    for name, value in values.items():
        holders.setdefault(value, []).append(name)
    write, more = (listed, []) if len(holders) <= most else (some, [f"{len(holders) - most} more"])
    parts = [f"{value}: {write(names)}" for value, names in holders.items()]
    return "; ".join([*parts[:most], *more])


def quoted(name: str) -> str:
    """`name` as an identifier in SQL."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def ending(text: str, whole: str, limit: int = 400) -> str:
    """The last lines of `text`, about `limit` characters of them.

    When lines are left out, the result begins by saying so and where the `whole` text is.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    tail = text[-limit:]
    first, _, rest = tail.partition("\n")
    tail = rest or first  # a single line longer than that has no other place to be cut
    return f"(the end; all of it is in {whole})\n{tail}"


# Text of unknown origin without characters that drive a terminal or turn the order of a line.

# C0 and C1 controls, marks that join, hide or reorder (bidi), line separators, lone surrogates.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# Blanks of one line, but the thin one between a number and its unit.
_BLANK = re.compile(r"[^\S\u202f]")
MOST_TOLD = 1000  # characters of a message that is one line among others


def visible(text: str) -> str:
    """`text` with "?" for each such character; line ends and tabs stay."""
    return _HIDDEN.sub("?", text.replace("\r\n", "\n"))


def shortened(text: str, most: int = MOST_TOLD) -> str:
    """`text`, visible, cut after `most` characters."""
    return visible(text if len(text) <= most else text[:most] + "…")


def one_line(text: str, most: int | None = None) -> str:
    """`text` as one line, cut after `most` characters."""
    if most is not None and len(text) > most:
        text = text[:most] + "…"
    return text if text.isprintable() else visible(_BLANK.sub(" ", text))


def json_text(text: str) -> str:
    """JSON with escapes for such characters, which says the same."""
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


# Messages for names that do not exist, with the nearest that do.


def nearest(text: str, existing: Iterable[str]) -> str:
    """Up to three of the existing names that resemble `text`, as a phrase; empty when none does."""
    names = sorted(set(existing))
    close = difflib.get_close_matches(text, names, n=3, cutoff=0.5)
    close = close or [n for n in names if text and text in n][:3]
    return " or ".join(close)


def unknown(kind: str, name: str, existing: Iterable[str]) -> str:
    """The message for a name that does not exist."""
    names = sorted(existing)
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"expected one of {', '.join(names)}"
    return f"there is no {kind} {name!r}; {hint}"


# Query plans in the words of today's SQLite, so that equal plans of two versions read alike.

_ALIASED = re.compile(r"^(SCAN|SEARCH) (?:TABLE|SUBQUERY) \S+ AS (?=\S)")
_SUBQUERY = re.compile(r"^(SCAN|SEARCH) SUBQUERY (\d+)")
_TABLE = re.compile(r"^(SCAN|SEARCH) TABLE ")


def modern(line: str) -> str:
    """A line of EXPLAIN QUERY PLAN as SQLite writes it since 3.36."""
    line = _ALIASED.sub(r"\1 ", line)
    return _TABLE.sub(r"\1 ", _SUBQUERY.sub(r"\1 (subquery-\2)", line))


def file_name(text: str) -> str:
    """`text` as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_=," else "_" for c in text)


# Values of pragmas, as SQLite reads them back and as users read them.

_WORDS = {
    "synchronous": {"off": "0", "normal": "1", "full": "2", "extra": "3"},
    "temp_store": {"default": "0", "file": "1", "memory": "2"},
    "query_only": {"off": "0", "on": "1", "false": "0", "true": "1"},
    "foreign_keys": {"off": "0", "on": "1", "false": "0", "true": "1"},
}


def normal_pragma(name: str, value: str | int | None) -> str:
    """A pragma's value in the form in which SQLite reads it back."""
    text = str(value).lower()
    return _WORDS.get(name, {}).get(text, text)


def with_keys(pragmas: Iterable[tuple[str, object]]) -> dict[str, str]:
    """`pragmas` by name, and who decides whether foreign keys are checked where none does."""
    stated = {name: str(value) for name, value in pragmas}
    return {**stated, "foreign_keys": stated.get("foreign_keys", "as the driver has it")}
