"""Merged run directories for tests: small runs on disk, and the `merged.json` that names them."""

from collections.abc import Sequence
from pathlib import Path

from sqlitmus.machines.admit import NAME, SOURCES, Merged, MergedMachine, RefusedRun, Source
from tests.analysis.runs import (
    Json,
    Times,
    description,
    noisy,
    plan,
    runner,
    samples,
    write,
)

RUNNERS = ("node", "bun", "rust-ffi")
CPU = "Example CPU"


class Directory:
    """A merged directory in the making; `add` a machine with a run per plan, then `write`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machines: list[MergedMachine] = []
        self.refused: list[RefusedRun] = []
        self.expected: list[str] = []

    def add(
        self,
        name: str,
        *plans: Json,
        kind: str = "linux-x64",
        ratios: dict[str, float] | None = None,
        architecture: str = "x86_64",
        emulated: Sequence[str] = (),
        spread: float = 0.005,
    ) -> None:
        """A machine whose runners take `ratios` of the reference's time."""
        sources: list[Source] = []
        for number, of in enumerate(plans or [plan(RUNNERS)]):
            key = f"{len(self.machines):08x}{number:08x}"
            at: Json = {**of, "run": f"{name}-{number}", "machine": name}
            at["runners"] = [
                runner(
                    one["name"],
                    role=one["role"],
                    description=described(
                        one["name"], "x86_64" if one["name"] in emulated else architecture
                    ),
                )
                for one in at["runners"]
            ]
            facts = {"cpu": CPU, "cores": "4", "architecture": architecture, "os": f"{kind} 1.0"}
            lines = samples(at, self._time(ratios, spread))
            write(self.path / SOURCES / key, at, lines=lines, machine=facts)
            sources.append(
                Source(
                    hash=key,
                    run=at["run"],
                    label=name,
                    cpu=CPU,
                    created=at["created"],
                    blocks=at["blocks"],
                    complete=True,
                )
            )
        self.machines.append(MergedMachine(name=name, kind=kind, label=name, sources=sources))

    def _time(self, ratios: dict[str, float] | None, spread: float) -> Times:
        time = noisy(ratios, spread=spread)
        offset = 1000 * len(self.machines)
        return lambda case, label, block: time(case + offset, label, block)

    def write(self) -> Merged:
        """`merged.json`."""
        merged = Merged(
            run="2026-01-02T030405Z-merged",
            created="2026-01-02T03:04:05Z",
            sqlitmus="0.1.0",
            machines=self.machines,
            refused=self.refused,
            expected=self.expected,
        )
        (self.path / NAME).write_text(merged.model_dump_json(indent=1), encoding="utf-8")
        return merged


def described(name: str, architecture: str) -> Json:
    """What a runner says of itself, built for `architecture`."""
    found = description(name)
    return {**found, "identity": {**found["identity"], "architecture": architecture}}
