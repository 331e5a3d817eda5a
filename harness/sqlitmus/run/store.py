"""The run directory: plan, machine, verification and samples; append-only, synced line by line,
read as a stranger's.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO, Protocol, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import from_json

from sqlitmus.catalog.plan import Plan
from sqlitmus.machine import plainfiles
from sqlitmus.machine.conditions import Conditions
from sqlitmus.run.judge import Verified
from sqlitmus.vocabulary import figures, paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.detail import Detail
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.verdicts import Outcome

MOST_EXTENDED = 2  # times the planned blocks: beyond, a case is better measured in a run of its own


class Look(Model):
    """A look after so many `blocks`: the cases `settled` end there, the others go on `until` they
    have so many."""

    blocks: int
    settled: list[str]
    until: int


def extended(planned: int, until: int, blocks: int, saved_s: float, block_s: float) -> int:
    """Until how many blocks the cases go on that need `block_s` seconds for each.

    Those that ended after `blocks` of `until` save `saved_s` seconds in each block to come. Blocks
    are added in pairs, since every second one mirrors the one before it.
    """
    if not block_s:
        return blocks
    pairs = int((until - blocks) * saved_s / block_s / 2)
    return max(min(until + 2 * pairs, MOST_EXTENDED * planned), until)


# What may stand in a run directory: regular files within limits, and numbers within reason.


MB = plainfiles.MB
MOST_LINE = 4 * MB  # the longest are histograms, of some 100 kB
# Parsed whole, at some ten times the size; a plan of ten thousand cells has 7 MB.
MOST_WHOLE = 32 * MB
# Read in chunks; the samples of a million invocations have 130 MB.
MOST_LINES = 512 * MB
MOST_BLOCKS = 200_000

# What is read of a run, and how many bytes it may have.
SIZES = {
    "plan.json": MOST_WHOLE,
    "machine.json": MOST_WHOLE,
    "verify.jsonl": MOST_WHOLE,
    "samples.jsonl": MOST_LINES,
    "blocks.jsonl": MOST_BLOCKS * 640,  # bytes of a line
    "details.jsonl": MOST_LINES,
    "looks.jsonl": MOST_WHOLE,
    "gate.json": MOST_WHOLE,
    "selftest.json": MOST_WHOLE,
}
WRITTEN = ("iterations.jsonl", "summary.json", "report.html")
APPENDED = ("samples.jsonl", "iterations.jsonl", "details.jsonl", "blocks.jsonl", "looks.jsonl")
LOGS = "logs"

MOST = {"cases": 10_000, "runners": 200, "blocks": MOST_BLOCKS, "sessions": 1000, "looks": 100}
MOST_PLACES = 2_000_000  # invocations; 10,000 cells of 30 blocks are 300,000
MOST_PAIRED = 30_000_000  # blocks of two runners in a case; those cells have 1,350,000

NAME = re.compile(r"(?!\.+$)[\w.@+-]{1,200}")


class Sized(Protocol):
    """A plan, of a run or of its analysis."""

    @property
    def cases(self) -> Sequence[object]:
        """What is measured."""
        ...

    @property
    def runners(self) -> Sequence[object]:
        """Who is measured."""
        ...

    @property
    def blocks(self) -> int:
        """Passes over all."""
        ...

    @property
    def sessions(self) -> int:
        """Sittings."""
        ...

    @property
    def looks(self) -> int:
        """How often a gate may decide."""
        ...


def check(directory: Path) -> None:
    """Raise UsageError unless all that has a name of a run's files is a regular file."""
    for name in (*SIZES, *WRITTEN):
        bytes_ = plainfiles.size(directory / name)
        most = SIZES.get(name)
        if bytes_ is not None and most is not None and bytes_ > most:
            raise UsageError(
                f"{directory / name}: larger than {most // MB} MB, which no run writes"
            )
    plainfiles.check_folder(directory / LOGS)


def check_changeable(directory: Path) -> None:
    """Raise UsageError where going on with the run would change a file elsewhere."""
    for name in APPENDED:
        plainfiles.changeable(directory / name)
    logs = directory / LOGS
    for file in logs.iterdir() if logs.exists() else ():
        plainfiles.changeable(file)


def check_counts(where: str, plan: Sized) -> None:
    """Raise UsageError for numbers beyond reason; `where` is the file."""
    cases, runners = len(plan.cases), len(plan.runners)
    counts = {
        "cases": cases,
        "runners": runners,
        "blocks": plan.blocks,
        "sessions": plan.sessions,
        "looks": plan.looks,
    }
    for name, most in MOST.items():
        if counts[name] > most:
            raise UsageError(
                f"{where}: $.{name}: {counts[name]} is more than {most:,}, the most that is read"
            )
    if cases * (runners + 1) * plan.blocks > MOST_PLACES:
        raise UsageError(
            f"{where}: cases × runners × blocks are more than {MOST_PLACES:,} invocations, the "
            "most that are read"
        )
    if cases * runners * (runners + 1) // 2 * plan.blocks > MOST_PAIRED:
        raise UsageError(
            f"{where}: cases × pairs of runners × blocks are more than {MOST_PAIRED:,}, the most "
            "that are read"
        )


def check_name(where: str, name: str) -> None:
    """Raise UsageError for a name that is none of a folder beside another one."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{where} {name[:200]!r}: only letters, digits and . _ @ + - may be in a name"
        )


# Files of JSON lines: only appended to, and read up to the last line that is whole.


Item = dict[str, Any] | list[Any]


def line(item: Item) -> str:
    """`item` as a line, with its end."""
    return json.dumps(item, separators=(",", ":"), ensure_ascii=False) + "\n"


def append(file: Path, item: Item, *, sync: bool) -> None:
    """Append a line; with `sync` it is on the disk when this returns. Raises OSError."""
    with plainfiles.appended(file) as stream:
        stream.write(line(item).encode())
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def read(file: Path, most: int) -> Iterator[tuple[int, Any]]:
    """Number and value of each whole line; none where there is no file.

    Raises UsageError for what is no JSON, and for a file of more than `most` bytes.
    """
    if plainfiles.size(file) is None:
        return
    with plainfiles.opened(file, most) as stream:
        for number, text in enumerate(stream, start=1):
            if not text.endswith(b"\n"):
                return
            try:
                yield number, json.loads(text)
            except ValueError as error:
                raise UsageError(f"{file}:{number}: not a JSON line: {error}") from error


def repair(file: Path) -> int:
    """Cut off a half-written last line; returns how many bytes are left."""
    if not plainfiles.size(file):
        return 0
    with plainfiles.changed(file) as stream:
        whole = _whole_lines(stream)
        stream.truncate(whole)
    return whole


def _whole_lines(stream: BinaryIO) -> int:
    """Bytes up to the last line end, found from the end."""
    end = stream.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - plainfiles.MB)
        stream.seek(start)
        last = stream.read(end - start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0


# What a run writes line by line: samples, blocks, iterations.


class Sample(Model):
    """One invocation. `steady_ns` is the mean of its timed iterations; `figures` are those of
    `vocabulary.figures` by name, of an iteration or of the process."""

    block: int
    take: int = 0
    position: int
    case: str
    runner: str
    label: str
    outcome: Outcome
    reason: str | None = None
    log: str | None = None
    steady_ns: float | None = None
    figures: dict[str, int | float | None] = {}

    def row(self) -> list[Any]:
        """The sample as a line of `samples.jsonl`, in the order of `columns`."""
        fixed = self.model_dump(mode="json", include=set(_FIXED))
        return [*fixed.values(), *(self.figures.get(figure.name) for figure in figures.FIGURES)]

    @classmethod
    def from_row(cls, row: list[Any]) -> "Sample":
        """The sample of such a line; raises ValueError for one of another length."""
        values = dict(zip(columns(), row, strict=True))
        measured = {figure.name: values.pop(figure.sampled) for figure in figures.FIGURES}
        return cls.model_validate({**values, "figures": measured})


_FIXED = [name for name in Sample.model_fields if name != "figures"]


def columns() -> list[str]:
    """The columns of `samples.jsonl`: what every invocation has, then the figures."""
    return [*_FIXED, *(figure.sampled for figure in figures.FIGURES)]


def rows(line: list[Any]) -> list[list[Any]]:
    """The rows of a line: those of a set, or the one that it is."""
    return line if line and all(isinstance(row, list) for row in line) else [line]


class Block(Model):
    """One pass over all cells: the machine before and after it.

    A `disturbed` block that is `repeated` is done again as the next `take`; samples of a take that
    was repeated are not used. `idle` is by runner the CPU time that its processes took while they
    waited for their turns, as a share of that wait: the median of those that waited.
    """

    block: int
    take: int
    before: Conditions
    after: Conditions
    disturbed: bool
    repeated: bool
    idle: dict[str, float] = {}


IDLE = 0.01  # the most that a process may use of the processor while it waits for its turn


def restless(blocks: Iterable[Block]) -> dict[str, float]:
    """Runners whose processes used more than that: the median of their blocks, by name."""
    shares: dict[str, list[float]] = {}
    for block in blocks:
        for runner, share in block.idle.items():
            shares.setdefault(runner, []).append(share)
    usual = {runner: median(of_blocks) for runner, of_blocks in shares.items()}
    return {runner: share for runner, share in usual.items() if share > IDLE}


class Iterations(Model):
    """The iterations of one invocation, warm-up first; kept for whoever doubts its mean.

    Of one that took turns, `lost_ns` is what others took from each lap, and `counted` says which
    rounds count.
    """

    position: int
    take: int = 0
    warmup_ns: list[int]
    iterations_ns: list[int]
    lost_ns: list[int] = []
    counted: list[bool] = []


# Reads the JSON of a run directory; every number in it is safe for arithmetic.


MOST_NUMBER = 2**63
LEAST_NUMBER = 2.0**-63
CHUNK = 1024  # lines


class RunDataError(UsageError):
    """The run directory cannot be analysed; the text names the file and the place in it."""


def document(file: Path) -> dict[str, Any]:
    """The object in a file; raises RunDataError, and FileNotFoundError."""
    data = plainfiles.read(file, SIZES.get(file.name, MOST_WHOLE))
    value = _parse(data, f"{file}")
    if not isinstance(value, dict):
        raise RunDataError(f"{file}: expected a JSON object")
    fields = cast("dict[str, Any]", value)
    _check_keys(data, file)
    if not _sound(fields):
        _check(fields, f"{file}: $")
    return fields


def optional(file: Path) -> dict[str, Any] | None:
    """The object in a file; None when there is no such file."""
    return None if plainfiles.size(file) is None else document(file)


def lines(file: Path, *, numbers: bool = True) -> Iterator[tuple[int, list[Any]]]:
    """Whole lines in chunks, each with the number of its first; `numbers` checks the numbers.

    None where there is no such file. A last line without an end was cut off by a kill and is left
    out. Raises RunDataError.
    """
    if plainfiles.size(file) is None:
        return
    number = 1
    with plainfiles.opened(file, SIZES[file.name]) as stream:
        while chunk := list(islice(stream, CHUNK)):
            if not chunk[-1].endswith(b"\n"):
                chunk.pop()
            yield number, _values(chunk, file, number, numbers=numbers)
            number += len(chunk)


def cut_off(file: Path) -> bool:
    """Whether the last line has no end."""
    if not plainfiles.size(file):
        return False
    with plainfiles.opened(file, SIZES[file.name]) as stream:
        stream.seek(-1, 2)
        return stream.read(1) != b"\n"


def _values(chunk: list[bytes], file: Path, first: int, *, numbers: bool) -> list[Any]:
    """The lines at once, which takes half the time, or one by one to find the one that is none."""
    whole = b"[" + b",".join(chunk) + b"]"
    if len(whole) > MOST_LINE:
        _check_lengths(chunk, file, first)
    try:
        values = cast("list[Any]", from_json(whole))
    except ValueError:
        values = []
    if len(values) != len(chunk):
        hint = ". Restore the file, or remove the line to go on without it."
        values = [
            _parse(text, f"{file} line {number}", hint) for number, text in enumerate(chunk, first)
        ]
    if numbers and not _sound(values):
        for number, value in enumerate(values, first):
            _check(value, f"{file} line {number}: $")
    return values


def _check_lengths(chunk: list[bytes], file: Path, first: int) -> None:
    for number, text in enumerate(chunk, first):
        if len(text) > MOST_LINE:
            raise RunDataError(
                f"{file} line {number}: longer than {MOST_LINE // MB} MB, which no run writes"
            )


def _parse(data: bytes, where: str, hint: str = "") -> object:
    try:
        return from_json(data)
    except ValueError as error:
        raise RunDataError(f"{where}: not JSON: {error}{hint}") from error


def _check_keys(data: bytes, file: Path) -> None:
    """Raise RunDataError for a key that stands twice in an object: readers take either value."""

    def once(pairs: list[tuple[str, object]]) -> None:
        if (name := twice(pairs)) is not None:
            raise RunDataError(f"{file}: the key {name!r} occurs more than once in an object")

    json.loads(data, object_pairs_hook=once, parse_int=_ignored, parse_float=_ignored)


def twice(pairs: Sequence[tuple[str, object]]) -> str | None:
    """The first key that stands twice in an object, None where each stands once."""
    if len(dict(pairs)) == len(pairs):
        return None
    names = [name for name, _ in pairs]
    return next(name for name in names if names.count(name) > 1)


def _ignored(_: str) -> None:
    """A number that is not looked at, as one of ten thousand digits."""


def _sound(value: object) -> bool:
    """Whether all numbers are finite and of ordinary size: a quick check without the place."""
    left = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind is str:  # the most
            continue
        if kind is dict:
            left.extend(cast("dict[str, object]", item).values())
        elif kind is list:
            left.extend(cast("list[object]", item))
        elif (kind is int or kind is float) and not -MOST_NUMBER < cast(
            "float", item
        ) < MOST_NUMBER:  # nor NaN
            return False
    return True


def _check(value: object, path: str) -> None:
    """Raise RunDataError for the first unsound number, with its place."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check(item, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            _check(item, f"{path}[{number}]")
    elif isinstance(value, int | float) and not -MOST_NUMBER < value < MOST_NUMBER:
        raise RunDataError(f"{path}: not a finite number of ordinary size")


# The run directory: plan, machine, verification and samples; append-only, synced line by line.


SCHEMA = 4
M = TypeVar("M", bound=Model)


SELFTEST = "selftest.json"


def selftest_file() -> Path:
    """That of this machine's last self-test, of which each new run keeps a copy."""
    return paths.cache("memory") / SELFTEST


class RunDirectory:
    """One run's folder under `results/`. What cannot be written raises NotFit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls, path: Path, plan: Plan, machine: dict[str, str], verified: Iterable[Verified]
    ) -> "RunDirectory":
        """Make the folder and write all but samples; raises NotFit when it cannot be written.

        The plan comes last: a folder that has it is whole. Raises UsageError for a plan beyond
        what is read.
        """
        check_counts(f"{path / 'plan.json'}", plan)
        run = cls(path)
        try:
            (path / "logs").mkdir(parents=True, exist_ok=False)
            lines = [line(record.model_dump(mode="json")) for record in verified]
            run.write("verify.jsonl", "".join(lines))
            run.write("machine.json", json.dumps(machine, indent=1, ensure_ascii=False))
            run.write("plan.json", plan.model_dump_json(indent=1))
            run._append("samples.jsonl", _header(plan.run))
        except FileExistsError as error:
            raise UsageError(f"{path} exists already; choose another --label or --out") from error
        except OSError as error:
            raise NotFit(
                f"{path}: results cannot be written: {error.strerror}. Free space or choose "
                "another folder with --out."
            ) from error
        return run

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """An existing run; raises UsageError when it is none, or holds what no run writes."""
        check(path)
        if plainfiles.size(path / "plan.json") is None:
            raise UsageError(f"{path} is no run directory: it holds no plan.json")
        return cls(path.resolve())

    def write(self, name: str, text: str) -> Path:
        """Replace file `name` whole."""
        plainfiles.replace(self.path / name, text.encode())
        return self.path / name

    def plan(self) -> Plan:
        """The frozen plan; raises UsageError for one that is none, or beyond reason."""
        file = self.path / "plan.json"
        try:
            plan = Plan.model_validate(document(file), extra="ignore")
        except (OSError, ValidationError) as error:
            raise UsageError(f"{file}: cannot be read as a plan: {error}") from error
        check_counts(f"{file}", plan)
        if plan.confirms is not None:
            check_name(f"{file}: $.confirms", plan.confirms)
        return plan

    def machine(self) -> dict[str, str]:
        """Facts of the machine at the start of the run."""
        return document(self.path / "machine.json")

    def add_sample(self, sample: Sample, iterations: Iterations | None = None) -> None:
        """Append one sample; on the disk when this returns.

        Its iterations stand in a file of their own, which no report reads: they are most of what a
        run writes.
        """
        if iterations:
            self._append("iterations.jsonl", iterations.model_dump(mode="json"), sync=False)
        self._append("samples.jsonl", sample.row())

    def add_set(self, samples: Sequence[tuple[Sample, Iterations | None]]) -> None:
        """Append the samples of a set as one line: of a set there is all, or nothing."""
        for _, iterations in samples:
            if iterations:
                self._append("iterations.jsonl", iterations.model_dump(mode="json"), sync=False)
        self._append("samples.jsonl", [sample.row() for sample, _ in samples])

    def add_detail(self, detail: Detail) -> None:
        """Append what an invocation told beyond its times, before its sample is."""
        self._append("details.jsonl", detail.model_dump(mode="json", exclude_none=True), sync=False)

    def add_block(self, block: Block) -> None:
        """Append what was read around a block."""
        self._append("blocks.jsonl", block.model_dump(mode="json", exclude_none=True))

    def blocks(self) -> list[Block]:
        """All blocks that were gone through, in order."""
        return list(self._records("blocks.jsonl", Block))

    def add_look(self, look: Look) -> None:
        """Append what a planned look decided."""
        self._append("looks.jsonl", look.model_dump(mode="json"))

    def looks(self) -> list[Look]:
        """What planned looks decided, in order."""
        return list(self._records("looks.jsonl", Look))

    def finish(self) -> None:
        """Append the footer that marks the samples as complete."""
        self._append("samples.jsonl", {"complete": True})

    def verified(self) -> list[Verified]:
        """All verifications, in order."""
        return list(self._records("verify.jsonl", Verified))

    def samples(self) -> Iterator[Sample]:
        """All samples in order; a last line cut short by a kill is left out.

        Raises UsageError where the file's columns are not those that this version appends.
        """
        for number, item in self._lines("samples.jsonl"):
            if isinstance(item, list):
                try:
                    yield from map(Sample.from_row, rows(cast("list[Any]", item)))
                except ValueError as error:
                    raise self._unreadable("samples.jsonl", number, error) from error
            elif isinstance(item, dict) and "schema" in item and {**item, "run": ""} != _header(""):
                raise UsageError(
                    f"{self.path / 'samples.jsonl'}:{number}: begun by another version of "
                    "sqlitmus; go on with that one, or start a new run"
                )

    def complete(self) -> bool:
        """Whether the footer stands at the end."""
        return any(
            isinstance(item, dict) and "complete" in item
            for _, item in self._lines("samples.jsonl")
        )

    def repair(self) -> None:
        """Cut off half-written last lines, so that appending goes on behind whole ones."""
        for name in APPENDED:
            whole = repair(self.path / name)
            if not whole and name == "samples.jsonl":
                self._append(name, _header(self.plan().run))

    def _append(self, name: str, item: dict[str, Any] | list[Any], *, sync: bool = True) -> None:
        try:
            append(self.path / name, item, sync=sync)
        except OSError as error:
            raise NotFit(
                f"{self.path / name}: could not be written: {error.strerror}. What was written "
                f"stays readable; free some space and run: ./just run --resume {self.path}"
            ) from error

    def _records(self, name: str, model: type[M]) -> Iterator[M]:
        for number, item in self._lines(name):
            try:
                yield model.model_validate(item)
            except ValidationError as error:
                raise self._unreadable(name, number, error) from error

    def _unreadable(self, name: str, number: int, error: ValueError) -> UsageError:
        return UsageError(f"{self.path / name}:{number}: not as this version writes it: {error}")

    def _lines(self, name: str) -> Iterator[tuple[int, Any]]:
        return read(self.path / name, SIZES[name])


def _header(run: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "run": run, "columns": columns()}
