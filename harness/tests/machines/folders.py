"""Small run directories as files, and merged ones."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlitmus.machines.admit import Given
from sqlitmus.machines.merge import Done, merge
from tests.analysis import runs

FACTS = {
    "cpu": "EPYC",
    "cores": "4",
    "architecture": "x86_64",
    "memory": "16 GiB",
    "os": "Debian",
    "kernel": "6.1",
}
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
NAMES = ("node", "bun")


def write(
    folder: Path,
    *,
    cases: Sequence[str] = ("get-pk",),
    facts: dict[str, str] | None = None,
    complete: bool = True,
    **changes: Any,
) -> Path:
    """A run of two runners and two blocks, whose name is the folder's."""
    of = plan(folder.name, cases, **changes)
    lines = runs.samples(of, runs.noisy(), complete=complete)
    runs.write(folder, of, lines=lines, machine={**FACTS, **(facts or {})})
    (folder / "logs").mkdir()
    (folder / "logs" / "secret.log").write_text("stays here\n")
    (folder / "blocks.jsonl").write_text(runs.jsonl(block(n) for n in range(of["blocks"])))
    return folder


def plan(name: str, cases: Sequence[str], **changes: Any) -> dict[str, Any]:
    planned = [runs.case(case) for case in cases]
    given = {
        "run": name,
        "created": "2026-01-01T00:00:00+00:00",
        "size": "m",
        "blocks": 2,
        "machine": "linux-x64",
        "cases": planned,
        "definitions": {f"scenario {case['scenario']}": "1" * 16 for case in planned},
    }
    return runs.plan(NAMES, **{**given, **changes})


def block(number: int) -> dict[str, Any]:
    look = {"monotonic_ns": 10**9 * number, "probe_ns": 41_000_000, "load_average": 0.5}
    return {
        "block": number,
        "take": 0,
        "before": look,
        "after": {**look, "monotonic_ns": 10**9 * (number + 1)},
        "disturbed": False,
        "repeated": False,
    }


def edit(file: Path, old: str, new: str) -> None:
    """Change a file in its first place that is `old`."""
    text = file.read_text()
    assert old in text, f"no {old!r} in {file.name}"
    file.write_text(text.replace(old, new, 1))


def merged(*given: Path, out: Path, partial: bool = False, expect: Sequence[str] = ()) -> Done:
    return merge([Given(folder) for folder in given], out, "", list(expect), NOW, partial=partial)


def files(folder: Path) -> dict[str, bytes]:
    """Names and bytes of what lies in a folder, its own folders left out."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
