"""Messages for names that do not exist, with the nearest that do."""

import difflib
from collections.abc import Iterable


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
