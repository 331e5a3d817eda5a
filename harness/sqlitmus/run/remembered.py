"""Results of other commands that this machine remembers: each new run keeps a copy of them."""

from pathlib import Path

from sqlitmus.vocabulary import paths

SELF_TEST = "selftest.json"
SUSTAINED = "sustained.json"
FILES = (SELF_TEST, SUSTAINED)


def file(name: str) -> Path:
    """The file of this machine's last result of that name."""
    return paths.cache("memory") / name
