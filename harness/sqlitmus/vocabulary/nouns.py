"""Numbers with their nouns, names in a row, and the end of a long text."""

from collections.abc import Mapping, Sequence

SHOWN = 3  # names in a sentence before it only counts the others


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str]) -> str:
    """The first few names, and how many there are besides."""
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


def by_value(values: Mapping[str, str]) -> str:
    """`1: a and b; 2: c`, the names gathered under the value they share."""
    holders: dict[str, list[str]] = {}
    for name, value in values.items():
        holders.setdefault(value, []).append(name)
    return "; ".join(f"{value}: {listed(names)}" for value, names in holders.items())


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
