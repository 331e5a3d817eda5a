"""Copies of fixtures for processes that write: how they differ from their fixtures afterwards.

Most processes change a few pages. Their copy becomes the fixture again by writing these back: a
whole new one would have to reach the disk, on the clock of whoever syncs next.
"""

import hashlib
import stat
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog import databasefiles, seal
from sqlitmus.vocabulary.errors import NotFit

BLOCK = 4096
_AT_ONCE = 256 * BLOCK
# the change counter, and with which version of SQLite which change was written
_WITHOUT_MEANING = ((24, 28), (92, 100))


@dataclass(frozen=True, slots=True)
class Difference:
    """The numbers of the blocks in which a file differs from its fixture, and a SHA-256 of these
    blocks and of which fixture it is: files that share it hold the same, but for bytes that have no
    meaning."""

    blocks: list[int]
    image: bytes


class Copies:
    """Copies of fixtures, and in which blocks they were last seen to differ from these."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Path, Path | None], tuple[object, Difference]] = {}

    def difference(self, file: Path, origin: Path | None) -> Difference:
        """How `file` differs from `origin`; for None it does in all blocks. Raises OSError."""
        states = _states(file, origin)
        sha = hashlib.sha256(repr((origin, states[1], file.stat().st_size)).encode())
        numbers: list[int] = []
        for number, block in _differing(file, origin):
            numbers.append(number)
            sha.update(number.to_bytes(8, "big"))
            sha.update(block if number else _with_meaning(block))
        difference = Difference(numbers, sha.digest())
        self._seen[file, origin] = states, difference
        return difference

    def supply(self, origin: Path, target: Path) -> None:
        """Let `target` hold what `origin` does, with nothing beside it. Raises NotFit."""
        try:
            if _plain(target) and target.stat().st_size >= origin.stat().st_size:
                self._make_whole(origin, target)
            else:
                target.unlink(missing_ok=True)  # a link would have the copy written elsewhere
                databasefiles.fresh_copy(origin, target)
        except OSError as error:
            raise NotFit(f"{target}: cannot be made the fixture again: {error.strerror}") from error

    def _make_whole(self, origin: Path, target: Path) -> None:
        states, difference = self._seen.pop((target, origin), (None, None))
        if difference is None or states != _states(target, origin):
            difference = self.difference(target, origin)
        databasefiles.remove_logs(target)
        with origin.open("rb") as whole, target.open("r+b") as copy:
            for number in difference.blocks:
                whole.seek(number * BLOCK)
                copy.seek(number * BLOCK)
                copy.write(whole.read(BLOCK))
            copy.truncate(origin.stat().st_size)


def _states(file: Path, origin: Path | None) -> tuple[object, object]:
    return seal.state(file), origin and seal.state(origin)


def _plain(file: Path) -> bool:
    try:
        facts = file.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1


def _differing(file: Path, origin: Path | None) -> Iterator[tuple[int, bytes]]:
    """Number and content of each block of `file` that `origin` has otherwise or not at all."""
    mine, whole = bytearray(_AT_ONCE), bytearray(_AT_ONCE)
    with (
        file.open("rb") as stream,
        origin.open("rb") if origin else nullcontext() as other,
    ):
        start = 0
        while length := stream.readinto(mine):
            as_built = other.readinto(whole) if other else 0
            if length != as_built or mine != whole:
                for at in range(0, length, BLOCK):
                    block = bytes(mine[at : min(at + BLOCK, length)])
                    if block != bytes(whole[at : min(at + BLOCK, as_built)]):
                        yield start + at // BLOCK, block
            start += length // BLOCK


def _with_meaning(head: bytes) -> bytes:
    content = bytearray(head)
    for begin, end in _WITHOUT_MEANING:
        content[begin:end] = bytes(end - begin)
    return bytes(content)
