"""The rows of `faults.toml`: a fake of some behaviour, and a runner of changed sources."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from tests.fakes.clone import Clone
from tests.faults.fault import Fate, Fault, Seen, Where
from tests.faults.stage import Stage, build_dotnet, build_rust
from tests.faults.verdict import measured, verified

Row = Mapping[str, Any]
BUILDS = {"rust": build_rust, "dotnet": build_dotnet}
LANGUAGES: Mapping[str, Where] = {"node": "javascript", "rust": "rust", "dotnet": "dotnet"}
# In turns beside another runner, or alone: runners beside it, and the scheme.
WAYS: Mapping[str, tuple[Sequence[str], str]] = {
    "turns": (["python"], ""),
    "alone": ([], "process"),
}
TABLE = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))
AROUND = (  # text of the loop before an iteration, and after it
    "  let { checksum, rows, affected } = total;\n  ${surroundings.setup}",
    "  total.checksum = checksum; total.rows = rows; total.affected = affected;",
)


def faults_about(name: str) -> Iterator[Fault]:
    """The faults in the table of that name."""
    for row in TABLE[name]:
        if row.get("posix") and not hasattr(os, "mkfifo"):
            continue
        for words in row.get("each", [{}]):
            text = json.dumps({**row, "each": None})
            for word, instead in words.items():
                text = text.replace(word, instead)
            yield from _faults(json.loads(text))


def _faults(row: Row) -> Iterator[Fault]:
    (fate,) = {*get_args(Fate)} & row.keys()
    make = partial(Fault, fate=fate, message=row[fate])
    if "fake" in row:
        yield make(row["title"], "fake", partial(_fake, row), slow=row.get("slow", False))
        return
    name = row.get("in", "node")
    built = name in BUILDS
    make = partial(make, planted_in=LANGUAGES[name], needs=name if built else "hyperfine")
    if row.get("both"):
        for way, (beside, scheme) in WAYS.items():
            play = partial(_changed, row, beside, scheme)
            yield make(f"{row['title']}, {way}", play=play, slow=True, scheme=way)
        return
    play = partial(_changed, row, ["python"] if row.get("turns") else [], "")
    yield make(row["title"], play=play, slow=built or row.get("slow", False))


def _fake(row: Row, stage: Stage) -> Seen:
    """A fake of a behaviour."""
    clone = stage.fakes()
    clone.runner("planted", row["fake"])
    case = row.get("case", "all")
    if row.get("verified"):
        return verified(clone, "planted", case, size="s")
    return measured(clone, "planted", case=case, size="s")


def _changed(row: Row, beside: Sequence[str], scheme: str, stage: Stage) -> Seen:
    """A runner with changed sources, built where it is compiled; measured, pilot included, with
    those `beside` it, or verified. `figure` of the row is what the change is to make look
    better."""
    runner, case, size = row.get("in", "node"), row.get("case", "get-pk"), row.get("size", "s")
    figure = row.get("figure", "time" if row.get("both") else "")
    build: Callable[[Clone], None] = BUILDS.get(runner, lambda _: None)
    clone, honest, cell = stage.real(), stage.honest, (runner, case, figure)
    if honest is not None and figure and cell not in honest:
        build(clone)
        honest[cell] = _figure(clone, *cell)
    if "around" in row:
        around(clone, *row["around"])
    changes = row.get("change", [])
    for file, old, new in TABLE["changes"][changes] if isinstance(changes, str) else changes:
        clone.replace(f"runners/{file}", old, new)
    build(clone)
    looks = _figure(clone, *cell) / honest[cell] if honest is not None and figure else None
    if row.get("verified"):
        return verified(clone, runner, case, size=size)
    seen = measured(clone, runner, *beside, case=case, size=size, scheme=scheme)
    return replace(seen, looks=looks)


def around(clone: Clone, *texts: str) -> None:
    """Have JavaScript do that before and after each measured iteration."""
    for place, text in zip(AROUND, texts, strict=True):
        done = f"{place} if (!${{verify}}) {{ {text} }}"
        clone.replace("runners/javascript/loops.js", place, done)


def _figure(clone: Clone, runner: str, case: str, figure: str) -> float:
    command = [sys.executable, "-m", "tests.faults.look", runner, case, figure]
    done = subprocess.run(
        command, env=clone.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return float(done.stdout.split()[-1])
