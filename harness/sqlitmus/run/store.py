"""The run directory: plan, machine, verification and samples; append-only, synced line by line."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from sqlitmus.catalog.plan import Plan
from sqlitmus.machine import plainfiles
from sqlitmus.run import folder, jsonlines
from sqlitmus.run.judge import Verified
from sqlitmus.run.lines import Block, Iterations, Sample, columns, rows
from sqlitmus.run.look import Look
from sqlitmus.run.records import document
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.detail import Detail
from sqlitmus.vocabulary.errors import NotFit, UsageError

SCHEMA = 4
M = TypeVar("M", bound=Model)


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
        folder.check_counts(f"{path / 'plan.json'}", plan)
        run = cls(path)
        try:
            (path / "logs").mkdir(parents=True, exist_ok=False)
            lines = [jsonlines.line(record.model_dump(mode="json")) for record in verified]
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
        folder.check(path)
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
        folder.check_counts(f"{file}", plan)
        if plan.confirms is not None:
            folder.check_name(f"{file}: $.confirms", plan.confirms)
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
        for name in folder.APPENDED:
            whole = jsonlines.repair(self.path / name)
            if not whole and name == "samples.jsonl":
                self._append(name, _header(self.plan().run))

    def _append(self, name: str, item: dict[str, Any] | list[Any], *, sync: bool = True) -> None:
        try:
            jsonlines.append(self.path / name, item, sync=sync)
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
        return jsonlines.read(self.path / name, folder.SIZES[name])


def _header(run: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "run": run, "columns": columns()}
