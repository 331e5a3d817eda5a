"""Merged files for tests."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.analysis import runs
from tests.machines import folders

RUNNERS = ("node", "bun", "rust-ffi")
CPU = "Example CPU"


class Directory:
    """A merged file in the making; `add` machines, then `write`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machines = 0
        self.refused: list[Any] = []
        self.expected: list[str] = []
        self._db = folders.create(path)

    def add(
        self,
        name: str,
        of: runs.Json | None = None,
        *,
        kind: str = "linux-x64",
        ratios: dict[str, float] | None = None,
        architecture: str = "x86_64",
        emulated: Sequence[str] = (),
        spread: float = 0.005,
        warming: str = "",
    ) -> None:
        """A machine whose runners take `ratios` of the reference's time; one may still warm up."""
        at: runs.Json = {**(of or runs.plan(RUNNERS)), "run": f"{name}-0", "machine": name}
        at["runners"] = [
            runs.runner(
                one["name"],
                role=one["role"],
                missing=one["missing"],
                description=one["description"]
                and described(one["name"], "x86_64" if one["name"] in emulated else architecture),
            )
            for one in at["runners"]
        ]
        facts = {"cpu": CPU, "cores": "4", "architecture": architecture, "os": f"{kind} 1.0"}
        time, offset = runs.noisy(ratios, spread=spread), 1000 * self.machines
        lines = runs.samples(at, lambda case, label, block: time(case + offset, label, block))
        for line in lines:
            if line.get("runner") == warming:
                line["drift"] = [0.89, 0.88, 0.9][line["block"] % 3]
        run = runs.filled(self._db, at, runs.checks(at), lines, facts)
        self._db.execute(
            "UPDATE run SET machine = ?, label = ?, kind = ? WHERE id = ?",
            (name, name, kind, run),
        )
        self.machines += 1

    def write(self) -> folders.Merged:
        """The file, read back."""
        texts = (json.dumps([*map(asdict, self.refused)]), json.dumps(self.expected))
        self._db.execute("DELETE FROM merged")
        self._db.execute(
            "INSERT INTO merged VALUES('2026-01-02T030405Z-merged', '2026-01-02T03:04:05Z', "
            "'0.1.0', ?, ?)",
            texts,
        )
        return folders.read(self.path)


def described(name: str, architecture: str) -> runs.Json:
    """What a runner says of itself, built for `architecture`."""
    found = runs.description(name)
    return {**found, "identity": {**found["identity"], "architecture": architecture}}
