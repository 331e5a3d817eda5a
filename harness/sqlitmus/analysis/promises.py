"""What pragmas, as they were read back, make of a commit and of the page cache. Pure."""

from collections.abc import Mapping

from sqlitmus.results.advice import Promise
from sqlitmus.run.judge import normal

Pragmas = Mapping[str, str | int | None]

_LOST = {"off", "memory"}  # journals that a crash of the process takes with it
_KIBI = 1024


def promise(pragmas: Pragmas) -> Promise | None:
    """What a commit survives, by journal_mode and synchronous as they were read back.

    After https://sqlite.org/pragma.html#pragma_synchronous: in WAL mode NORMAL gives up durability
    only, with a rollback journal it may, rarely, cost the file.
    """
    if not {"journal_mode", "synchronous"} <= pragmas.keys():
        return None
    journal, level = (normal(name, pragmas[name]) for name in ("journal_mode", "synchronous"))
    if journal in _LOST or level == "0":
        return Promise.NONE
    if level == "1":
        return Promise.LATE if journal == "wal" else Promise.RISKY
    return Promise.DURABLE


def cache_bytes(pragmas: Pragmas) -> int | None:
    """The page cache of a connection; a negative cache_size is in KiB, a positive one in pages."""
    try:
        size, page = int(pragmas["cache_size"] or 0), int(pragmas["page_size"] or 0)
    except (KeyError, ValueError):
        return None
    return -size * _KIBI if size < 0 else size * page
