"""The files of a session: its folder, fixtures that nobody changes, and copies for processes
that write.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import psutil

from sqlitmus.catalog import fixture
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit


def make_scratch() -> Path:
    """This process's folder for jobs and copies, on the fixtures' file system.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("work").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    scratch = paths.cache("work") / str(os.getpid())
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return scratch


def file_name(text: str) -> str:
    """`text` as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_=," else "_" for c in text)


BLOCK = 4096
_AT_ONCE = 256 * BLOCK
# the change counter, and with which version of SQLite which change was written
_WITHOUT_MEANING = ((24, 28), (92, 100))


class Difference(NamedTuple):
    """The numbers of the blocks in which a file differs from its fixture, and a SHA-256 of these
    blocks and of which fixture it is: files that share it hold the same, but for bytes that have no
    meaning."""

    blocks: list[int]
    image: bytes


class Copies:
    """Copies of fixtures for processes that write, and in which blocks they were last seen to
    differ from these."""

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
            if not number:
                for begin, end in _WITHOUT_MEANING:
                    block[begin:end] = bytes(end - begin)
            sha.update(block)
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
                fixture.fresh_copy(origin, target)
        except OSError as error:
            raise NotFit(f"{target}: cannot be made the fixture again: {error.strerror}") from error

    def _make_whole(self, origin: Path, target: Path) -> None:
        states, difference = self._seen.pop((target, origin), (None, None))
        if difference is None or states != _states(target, origin):
            difference = self.difference(target, origin)
        fixture.remove_logs(target)
        with origin.open("rb") as whole, target.open("r+b") as copy:
            for number in difference.blocks:
                whole.seek(number * BLOCK)
                copy.seek(number * BLOCK)
                copy.write(whole.read(BLOCK))
            copy.truncate(origin.stat().st_size)


def _states(file: Path, origin: Path | None) -> tuple[object, object]:
    return fixture.state(file), origin and fixture.state(origin)


def _plain(file: Path) -> bool:
    try:
        facts = file.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1


def _differing(file: Path, origin: Path | None) -> Iterator[tuple[int, bytearray]]:
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
                    block = mine[at : min(at + BLOCK, length)]
                    if block != whole[at : min(at + BLOCK, as_built)]:
                        yield start + at // BLOCK, block
            start += length // BLOCK


class Fixtures:
    """Gives out fixtures, and looks at all that it gave out after each invocation."""

    def __init__(self, catalog: Catalog, size: str, say: Callable[[str], None]) -> None:
        self._catalog = catalog
        self._size = size
        self._say = say
        self._states: dict[Path, fixture.State | None] = {}

    def of(self, case: PlannedCase) -> Path | None:
        """The file of `case` in its profile's journal mode; built unless it is there and whole."""
        name = case.fixture
        if name is None:
            return None
        definition = self._catalog.fixtures[name]
        folder = fixture.snapshots() if definition.content else paths.cache("fixtures")
        file = fixture.ensure(
            name,
            definition,
            self._size,
            case.journal_mode,
            folder,
            case.variant.encoding,
            self._say,
            case.page_size,
        )
        self._states[file] = fixture.state(file)
        return file

    def whole(self, file: Path) -> bool:
        """Whether nothing touched `file` since it was given out."""
        return file in self._states and self._states[file] == fixture.state(file)

    def harm(self) -> str | None:
        """What became of the files while a runner ran; None if they hold what they held.

        A file that was harmed is told once; who needs it next has to ask for it with `of`.
        """
        harmed: list[str] = []
        for file in [file for file in self._states if not self.whole(file)]:
            if damage := fixture.seal_damage(file):
                del self._states[file]
                what = "vanished" if damage == "absent" else "changed"
                harmed.append(f"the fixture {file.name} {what} while it ran")
            else:
                self._states[file] = fixture.state(file)
        return f"{', and '.join(harmed)}; a runner must only read it" if harmed else None
