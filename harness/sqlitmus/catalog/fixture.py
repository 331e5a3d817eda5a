"""Database files: built once per definition, size and journal mode, sealed, then shared by those
that read them, and copied for those that write.
"""

import hashlib
import multiprocessing
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import chain
from math import inf
from pathlib import Path, PureWindowsPath
from typing import Literal, NamedTuple

import psutil
from pydantic import ValidationError

from sqlitmus.catalog import generate
from sqlitmus.catalog.authorizer import confined
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Encoding, Fixture, Generator as scenario_Generator
from sqlitmus.machine import system
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import NotFit, UsageError

Damage = Literal["absent", "unsealed", "changed"]
# Size, times of change in ns and inode, then the bytes of a log beside the file. Equal states are
# equal content: what a program writes moves the second time, which no program can put back.
State = tuple[int, int, int, int, int, int]

BLOCK = 4096
LOGS = ("-wal", "-journal")
BESIDE = (*LOGS, "-shm")


class Seal(Model):
    """The SHA-256 of a file, and the state in which it was last seen to have it."""

    sha256: str
    state: State


def state(file: Path) -> State | None:
    """The state of `file`, None where there is no such file."""
    try:
        status = file.stat()
    except OSError:
        return None
    wal, journal = (_size(f"{file}{suffix}") for suffix in LOGS)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_size, *times, status.st_ino, wal, journal)


def put(file: Path, sha256: str | None = None, *, of: Path | None = None) -> None:
    """Seal `file` as it is, with the content that it or `of` has, or that `sha256` tells.

    Raises OSError.
    """
    content = of or file
    now = state(content)
    assert now is not None
    seal = Seal(sha256=sha256 or digest(content), state=now)
    partial = file.with_suffix(f".seal.{os.getpid()}.part")
    partial.write_bytes(seal.model_dump_json().encode())
    partial.replace(beside(file))


def seal_damage(file: Path) -> Damage | None:
    """What became of `file` since it was sealed; None while its content is the same.

    The content is read only if the state is another one, which is then remembered. Bytes in a log
    count as a change, since whoever opens the file next may find them in it.
    """
    now = state(file)
    if now is None:
        return "absent"
    try:
        seal = Seal.model_validate_json(beside(file).read_bytes())
    except (OSError, ValidationError):
        return "unsealed"
    if now == seal.state:
        return None
    try:
        if any(now[-len(LOGS) :]) or digest(file) != seal.sha256:
            return "changed"
        put(file, seal.sha256)
    except OSError:
        return "absent"
    return None


def beside(file: Path) -> Path:
    """Where the seal of `file` is."""
    return file.with_suffix(".seal")


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(name: str | Path) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:
        return 0


def folder_of(database: Path) -> Path:
    """The folder of what stands beside `database`."""
    return database.with_suffix(".files")


def bytes_of_files(database: Path) -> int:
    """What the files beside `database` take on a disk that gives out blocks of 4,096 bytes."""
    return sum(-(-file.stat().st_size // BLOCK) * BLOCK for file in folder_of(database).iterdir())


def into_page_cache(*places: Path) -> None:
    """Read files, and all files below folders, where half of the free memory holds them: else the
    first of those that read them would wait for the disk. What cannot be read is left out."""
    below = (place.rglob("*") if place.is_dir() else [place] for place in places)
    files = [file for file in chain.from_iterable(below) if file.is_file()]
    if sum(_size(file) for file in files) > (system.free_memory() or inf) / 2:
        return
    for file in files:
        with suppress(OSError), file.open("rb", buffering=0) as stream:
            while stream.read(2**20):
                pass


def put_files(path: Path, database: Path, query: str) -> None:
    """Write each blob that `query` finds in `database` to a file of its name, beside `path`."""
    with (
        _filled(path) as folder,
        closing(sqlite3.connect(database)) as connection,
        confined(connection),
    ):
        for name, content in connection.execute(query):
            named(folder, str(name)).write_bytes(content)


def put_databases(path: Path, database: Path, sql: str, count: int) -> None:
    """Write a copy of `database` for each number from 1 to `count`, in which `sql` is executed with
    it, beside `path`."""
    with _filled(path) as folder:
        for number in range(1, count + 1):
            copy = folder / str(number)
            shutil.copyfile(database, copy)
            with (
                closing(sqlite3.connect(copy, isolation_level=None)) as connection,
                confined(connection),
            ):
                connection.execute(sql, (number,))


def named(folder: Path, name: str) -> Path:
    """The file of that name in `folder`. Raises UsageError for a name that leads elsewhere."""
    if name in ("", "..") or "\0" in name or PureWindowsPath(name).name != name:
        raise UsageError(
            f"{name!r} is no name of a file beside a database; give it one without / \\ and :"
        )
    return folder / name


@contextmanager
def _filled(path: Path) -> Generator[Path]:
    """A folder to fill, which appears beside `path` as a whole."""
    folder = folder_of(path)
    partial = folder.with_suffix(f".{os.getpid()}.part.files")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        shutil.rmtree(folder, ignore_errors=True)
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def fresh_copy(source: Path, target: Path) -> None:
    """Copy `source` to `target`, and remove what a former writer left beside it.

    Raises NotFit when the copy cannot be written.
    """
    try:
        remove_logs(target)
        # Bytes, not a clone, whose pages the first write to each would copy, on the clock.
        shutil.copyfile(source, target)
    except OSError as error:
        raise NotFit(f"{target}: a copy of the fixture cannot be made: {error.strerror}") from error


def remove_logs(file: Path) -> None:
    """Remove what a writer left beside `file`. Raises OSError."""
    for suffix in BESIDE:
        file.with_name(file.name + suffix).unlink(missing_ok=True)


LAYOUT = 1  # part of the hash: raise it when `build` itself changes what a file holds
PAGE_SIZE = 4096


def key(
    name: str,
    fixture: Fixture,
    size: str,
    journal_mode: str,
    encoding: Encoding = "UTF-8",
    page_size: int | None = None,
) -> str:
    """The file's name without suffix; it differs by definition, size, journal mode, encoding and
    page size."""
    other = [] if encoding == "UTF-8" else [encoding]
    other += [f"pages-{page_size}"] if page_size else []
    text = "/".join(
        [str(LAYOUT), size, journal_mode, *other, fixture.model_dump_json(exclude_defaults=True)]
    )
    parts = [name, size, journal_mode, *other, hashlib.sha256(text.encode()).hexdigest()[:12]]
    return "-".join(parts).lower()


def ensure(
    name: str,
    fixture: Fixture,
    size: str,
    journal_mode: str,
    folder: Path,
    encoding: Encoding = "UTF-8",
    say: Callable[[str], None] = lambda _: None,
    page_size: int | None = None,
) -> Path:
    """The path of the fixture's file in `folder`; builds it if it is absent or not as it was built.

    In the latter case `say` is told.
    """
    path = folder / f"{key(name, fixture, size, journal_mode, encoding, page_size)}.db"
    damage = seal_damage(path)
    has_files = fixture.files or fixture.databases
    if damage is None and (not has_files or folder_of(path).is_dir()):
        return path
    damage = damage or "absent"
    if damage != "absent":
        say(f"{path}: {_NOT_TRUSTED[damage]}; it is built again")
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.unlink(missing_ok=True)
    try:
        build(fixture, size, journal_mode, partial, encoding, page_size)
        if query := fixture.files:
            put_files(path, partial, query)
        if sql := fixture.databases:
            put_databases(path, partial, sql, rows(fixture, size))
        remove_logs(path)  # one of the former file would be taken for one of the new
        # Sealed before it has its name, so that no other process finds it without a seal; and
        # again after, because a new name is a new state.
        put(path, of=partial)
        partial.replace(path)
        seal_damage(path)
    except OSError as error:
        raise NotFit(f"{path}: fixture {name} cannot be built: {error.strerror}") from error
    except (sqlite3.Error, OverflowError) as error:  # the latter of integers beyond 64 bits
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise NotFit(f"{path}: fixture {name} cannot be built: {error}") from error
        raise UsageError(f"fixtures/{name}.toml: SQLite says of its SQL: {error}") from error
    except UsageError as error:
        raise UsageError(f"fixtures/{name}.toml: {error}") from error
    finally:
        for leftover in folder.glob(f"{partial.name}*"):
            leftover.unlink(missing_ok=True)
    return path


_NOT_TRUSTED = {
    "unsealed": "nothing tells what this fixture held when it was built",
    "changed": "this fixture has changed since it was built",
}


def rows(fixture: Fixture, size: str) -> int:
    """Rows of the main table at `size`; raises UsageError for a size that is not defined."""
    if size not in fixture.sizes:
        raise UsageError(f"there is no size {size}; expected one of {', '.join(fixture.sizes)}")
    return fixture.sizes[size]


def snapshots() -> Path:
    """This session's folder for copies of a user's database and what is made of them.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("databases").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    parent = multiprocessing.parent_process()  # of a fork that verifies beside others
    return paths.cache(f"databases/{parent.pid if parent else os.getpid()}")


def forget_snapshots() -> None:
    """Remove all copies of users' databases that this process made."""
    shutil.rmtree(snapshots(), ignore_errors=True)


def build(
    fixture: Fixture,
    size: str,
    journal_mode: str,
    path: Path,
    encoding: Encoding = "UTF-8",
    page_size: int | None = None,
) -> None:
    """Create the file: fill tables, index, ANALYZE, checkpoint, and leave it in `journal_mode`.

    A user's database is copied as it is, and has only its journal mode set; a `page_size` is set
    by VACUUM.
    """
    if fixture.content:
        shutil.copyfile(snapshots() / f"{fixture.content}.db", path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if page_size:
                connection.execute(f"PRAGMA page_size={page_size}")
                connection.execute("VACUUM")
            connection.execute(f"PRAGMA journal_mode={journal_mode}")
        return
    count = rows(fixture, size)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        fast = (
            f"encoding='{encoding}'",
            f"page_size={page_size or PAGE_SIZE}",
            "journal_mode=OFF",
            "synchronous=OFF",
            "cache_size=-200000",
        )
        for pragma in fast:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        with confined(connection):
            for sql in fixture.tables:
                connection.execute(sql)
            for table in fixture.fill:
                _fill(connection, fixture, table, count)
            for sql in fixture.indexes:
                connection.execute(sql)
        connection.execute("COMMIT")
        connection.execute("ANALYZE")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill(connection: sqlite3.Connection, fixture: Fixture, table: str, size: int) -> None:
    spec = fixture.fill[table]
    if "copy" in spec:
        connection.execute(insertion(table, spec))
        return
    columns = values_of(fixture, table, rows_of(spec, size), size)
    connection.executemany(insertion(table, spec), zip(*columns.values(), strict=True))


def rows_of(spec: dict[str, scenario_Generator | str], size: int) -> int:
    """How many rows a table has that generators fill."""
    rows = str(spec["rows"])
    return int(rows if rows.isdecimal() else generate.bound(rows, size))


def values_of(
    fixture: Fixture, table: str, count: int, size: int
) -> dict[str, Sequence[generate.Value]]:
    """By column the first `count` values of a table that generators fill."""
    return {
        name: generate.column(generator, count, size, f"{fixture.seed}/{table}/{name}")
        for name, generator in fixture.fill[table].items()
        if isinstance(generator, scenario_Generator)
    }


def insertion(table: str, spec: dict[str, scenario_Generator | str]) -> str:
    """The SQL that fills a table."""
    if "copy" in spec:
        return f"INSERT INTO {table} SELECT * FROM {spec['copy']}"
    names = [name for name, value in spec.items() if isinstance(value, scenario_Generator)]
    return f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


# Copies for processes that write, and fixtures that nobody changes.

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
                fresh_copy(origin, target)
        except OSError as error:
            raise NotFit(f"{target}: cannot be made the fixture again: {error.strerror}") from error

    def _make_whole(self, origin: Path, target: Path) -> None:
        states, difference = self._seen.pop((target, origin), (None, None))
        if difference is None or states != _states(target, origin):
            difference = self.difference(target, origin)
        remove_logs(target)
        with origin.open("rb") as whole, target.open("r+b") as copy:
            for number in difference.blocks:
                whole.seek(number * BLOCK)
                copy.seek(number * BLOCK)
                copy.write(whole.read(BLOCK))
            copy.truncate(origin.stat().st_size)


def _states(file: Path, origin: Path | None) -> tuple[object, object]:
    return state(file), origin and state(origin)


def _plain(file: Path) -> bool:
    try:
        facts = file.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1


def _differing(file: Path, origin: Path | None) -> Iterator[tuple[int, bytearray]]:
    """Number and content of each block of `file` that `origin` has otherwise or not at all."""
    mine, whole = bytearray(_AT_ONCE), bytearray(_AT_ONCE)
    with file.open("rb") as stream, origin.open("rb") if origin else nullcontext() as other:
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
        self._states: dict[Path, State | None] = {}

    def of(self, case: PlannedCase) -> Path | None:
        """The file of `case` in its profile's journal mode; built unless it is there and whole."""
        name = case.fixture
        if name is None:
            return None
        definition = self._catalog.fixtures[name]
        folder = snapshots() if definition.content else paths.cache("fixtures")
        file = ensure(
            name,
            definition,
            self._size,
            case.journal_mode,
            folder,
            case.variant.encoding,
            self._say,
            case.page_size,
        )
        self._states[file] = state(file)
        return file

    def whole(self, file: Path) -> bool:
        """Whether nothing touched `file` since it was given out."""
        return file in self._states and self._states[file] == state(file)

    def harm(self) -> str | None:
        """What became of the files while a runner ran; None if they hold what they held.

        A file that was harmed is told once; who needs it next has to ask for it with `of`.
        """
        harmed: list[str] = []
        for file in [file for file in self._states if not self.whole(file)]:
            if damage := seal_damage(file):
                del self._states[file]
                what = "vanished" if damage == "absent" else "changed"
                harmed.append(f"the fixture {file.name} {what} while it ran")
            else:
                self._states[file] = state(file)
        return f"{', and '.join(harmed)}; a runner must only read it" if harmed else None
