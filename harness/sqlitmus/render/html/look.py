"""How a runner looks everywhere: hue by runtime, marker shape and dash by driver within that
runtime."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlitmus.results.report import Runner

RUNTIMES = ("node", "bun", "deno", "rust", "dotnet")
ALIASES = {"node.js": "node", ".net": "dotnet"}
SHAPES = 4


@dataclass(frozen=True, slots=True)
class Look:
    """`hue` is a style class; `shape` is the index of a marker and of a dash pattern."""

    hue: str
    shape: int


def looks(runners: Iterable[Runner]) -> dict[str, Look]:
    """A look per runner name; it depends on the runtimes and drivers, never on who is fast."""
    by_name: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for runner in runners:
        key = runner.runtime.lower()
        shape = seen.get(key, 0)
        seen[key] = shape + 1
        runtime = ALIASES.get(key, key)
        hue = runtime if runtime in RUNTIMES else "other"
        by_name[runner.name] = Look(f"k-{hue}", shape % SHAPES)
    return by_name
