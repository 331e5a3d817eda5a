"""A workflow's jobs and steps, as the tests and the rehearsal see them."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from workflows.expression import evaluate, fill

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
RECIPE = re.compile(r"^([a-z][\w-]*)(?: [*+]?[A-Z]+)*:", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One step: `run` is its command or None, `uses` its action or None."""

    name: str
    run: str | None
    uses: str | None
    condition: str
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def words(self) -> list[str]:
        """The command's words, as a shell would see them before it fills in variables."""
        return shlex.split(self.run or "")


@dataclass(frozen=True)
class Job:
    """One job; `raw` is what the file says of it."""

    name: str
    raw: Mapping[str, Any]

    @property
    def steps(self) -> list[Step]:
        """Its steps in order; none if it calls another workflow."""
        return [
            Step(
                step.get("name") or step.get("uses") or step["run"],
                step.get("run"),
                step.get("uses"),
                str(step.get("if", "")),
                step.get("env", {}),
                step.get("with", {}),
            )
            for step in self.raw.get("steps", [])
        ]

    def matrix(self, contexts: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The combinations of its matrix in order; one empty one without a matrix."""
        raw: dict[str, Any] = dict(self.raw.get("strategy", {}).get("matrix", {}))
        if "include" in raw:
            return [dict(one) for one in raw["include"]]
        axes: dict[str, list[Any]] = {}
        for name, values in raw.items():
            found: Any = evaluate(values, contexts) if isinstance(values, str) else values
            axes[name] = list(found)
        return [dict(zip(axes, chosen, strict=True)) for chosen in product(*axes.values())]


@dataclass(frozen=True)
class Workflow:
    """A workflow file."""

    path: Path
    raw: Mapping[str, Any]

    @property
    def jobs(self) -> dict[str, Job]:
        """Its jobs by name, in order."""
        return {name: Job(name, raw) for name, raw in self.raw["jobs"].items()}

    def inputs(self) -> dict[str, Any]:
        """The defaults of its inputs; empty where an event has none."""
        named: dict[str, dict[str, Any]] = {}
        for event in ("workflow_dispatch", "workflow_call"):
            told: dict[str, Any] = self.raw["on"].get(event) or {}
            named |= told.get("inputs", {})
        return {name: one.get("default", "") for name, one in named.items()}

    def env(self, contexts: Mapping[str, Any]) -> dict[str, str]:
        """The environment that all its jobs get."""
        return {name: fill(str(value), contexts) for name, value in self.raw.get("env", {}).items()}


def read(path: Path) -> Workflow:
    """The workflow of a file."""
    raw: Any = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] — ruamel.yaml leaves its types open
    return Workflow(path, raw)


def workflows() -> Iterator[Workflow]:
    """All workflows of the clone, by name."""
    yield from (read(path) for path in sorted(FOLDER.glob("*.yml")))


def recipes() -> set[str]:
    """The recipes of the Justfile."""
    return set(RECIPE.findall((ROOT / "Justfile").read_text("utf-8")))
