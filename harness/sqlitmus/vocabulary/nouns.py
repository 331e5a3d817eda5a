"""Numbers with their nouns, and the end of a long text."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


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
