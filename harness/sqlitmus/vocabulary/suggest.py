"""What to say of a name that does not exist."""

import difflib
from collections.abc import Iterable


def nearest(text: str, known: Iterable[str]) -> str:
    """Up to three known names near `text`, as a phrase; empty when none is near."""
    names = sorted(set(known))
    close = difflib.get_close_matches(text, names, n=3, cutoff=0.5)
    close = close or [n for n in names if text and text in n][:3]
    return " or ".join(close)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist."""
    names = sorted(known)
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"expected one of {', '.join(names)}"
    return f"there is no {kind} {name!r}; {hint}"
