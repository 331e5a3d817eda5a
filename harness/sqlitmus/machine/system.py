"""Readings of the system: Linux's files below a root folder, and psutil's answers or None.

Nothing here raises: a container may hide a file, a kernel may lack one, and psutil fails in many
ways on systems that it supports in part.
"""

import fnmatch
import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

ROOT = Path("/")
CPUS = "sys/devices/system/cpu"
T = TypeVar("T")


def safely(read: Callable[[], T]) -> T | None:
    """The value of `read()`, or None when it raises; hides psutil's warnings of missing facts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except Exception:  # noqa: BLE001 — psutil parses files of the kernel without promising errors
        return None


def load_average() -> float | None:
    """The load average of the last minute; None where the system has none."""
    if sys.platform == "win32":
        return None
    return safely(lambda: os.getloadavg()[0])


def text(root: Path, name: str) -> str:
    """A file below `root`, stripped of white space; empty when it cannot be read."""
    try:
        # A machine with many cores has hundreds of such files, and pathlib is slow at each.
        with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""


def texts(root: Path, folder: str, pattern: str, name: str) -> list[str]:
    """File `name` of all folders in `folder` that match `pattern`, without unreadable ones."""
    try:
        folders = sorted(fnmatch.filter((f.name for f in (root / folder).iterdir()), pattern))
    except OSError:
        return []
    return [content for each in folders if (content := text(root, f"{folder}/{each}/{name}"))]


def natural(word: str) -> int | None:
    """`word` as a number of at most 64 bits; None when it is anything else."""
    if not re.fullmatch("[0-9]{1,20}", word):
        return None
    number = int(word)
    return number if number < 2**64 else None


def numbers(root: Path, folder: str, pattern: str, name: str) -> list[int]:
    """The numbers in all files that `texts` reads; files without a number are left out."""
    values = (natural(content) for content in texts(root, folder, pattern, name))
    return [value for value in values if value is not None]


def row(root: Path, name: str, key: str) -> list[str]:
    """The words after `key`, a line's first word or the text before a colon; empty without it."""
    for line in text(root, name).splitlines():
        before, _, after = line.partition(":")
        if before.strip() == key:
            return after.split()
        if line.split()[:1] == [key]:
            return line.split()[1:]
    return []


def first(words: list[str]) -> int | None:
    """The first word as a number."""
    return natural(words[0]) if words else None
