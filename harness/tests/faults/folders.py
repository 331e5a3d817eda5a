"""Run directories from elsewhere: links, pipes, absurd numbers, texts that drive a terminal.

Beside each lies a folder of the user's, in which nothing may change.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from sqlitmus.run.judge import Verified
from sqlitmus.run.store import RunDirectory
from tests.fakes.clone import Clone
from tests.fakes.small import PLAN
from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.machines import folders

MEMORY = 4 * 2**30
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b[2J\x9b31m\x07\r\u202efake"

Plant = Callable[[Path, Path], object]


def reported(plant: Plant, *arguments: str) -> Callable[[Stage], Seen]:
    """A finished run in which `plant` changed something, given to `report` or to `arguments`."""

    def play(stage: Stage) -> Seen:
        clone = Clone.make(stage.folder / "clone")
        run = folders.write(stage.folder / "run")
        return fate(clone, run, plant, *(arguments or ("report",)), str(run))

    return play


def resumed(plant: Plant) -> Callable[[Stage], Seen]:
    """The same for an interrupted run and `run --resume`."""

    def play(stage: Stage) -> Seen:
        clone = Clone.make(stage.folder / "clone", stage.hyperfine)
        clone.runner("a")
        run = begun(stage.folder / "run")
        return fate(clone, run, plant, "run", "--resume", str(run))

    return play


def begun(folder: Path) -> Path:
    """A run that was interrupted before its first sample, which this version can resume."""
    verified = Verified(case="get", runner="a", outcome="ok")
    return RunDirectory.create(folder, PLAN, {}, [verified]).path


def fate(clone: Clone, run: Path, plant: Plant, *arguments: str) -> Seen:
    """What `arguments` make of the run, once `plant` has changed it."""
    elsewhere = run.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "diary.txt").write_text("my diary, without a line end")
    (elsewhere / "folder").mkdir()
    plant(run, elsewhere)
    before = contents(elsewhere)
    try:
        done = clone.sqlitmus(*arguments, memory=MEMORY)
    except subprocess.TimeoutExpired as error:
        return Seen("ok", f"it did not end within {error.timeout:g} s")
    if contents(elsewhere) != before:
        return Seen("ok", f"a file elsewhere was changed; then: {done.err}")
    if drives := DRIVES.search(done.out + done.err):
        return Seen("ok", f"{drives[0]!r} was printed")
    text = (done.err or done.out).replace(str(run), "RUN")
    return Seen("refused" if done.code == 2 else "ok", f"exit {done.code}: {text}")


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of all below a folder."""
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def link(name: str) -> Plant:
    """A link to the user's diary under the name of a file."""

    def plant(run: Path, elsewhere: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(elsewhere / "diary.txt")

    return plant


def second_name(name: str) -> Plant:
    """A file that is the user's diary under a second name."""

    def plant(run: Path, elsewhere: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.link(elsewhere / "diary.txt", run / name)

    return plant


def pipe(name: str) -> Plant:
    """A pipe that nobody writes to."""

    def plant(run: Path, _: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return plant


def endless(name: str) -> Plant:
    """A link to a device that never ends."""

    def plant(run: Path, _: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to("/dev/zero")

    return plant


def folder(name: str) -> Plant:
    """A folder under the name of a file."""

    def plant(run: Path, _: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).mkdir()

    return plant


def logs_elsewhere(run: Path, elsewhere: Path) -> None:
    """`logs` is a link to a folder of the user's."""
    (run / "logs").rmdir()
    (run / "logs").symlink_to(elsewhere / "folder")


def planned(**changes: object) -> Plant:
    """Other values in `plan.json`."""

    def plant(run: Path, _: Path) -> None:
        raw = json.loads((run / "plan.json").read_text())
        (run / "plan.json").write_text(json.dumps({**raw, **changes}))

    return plant


def program(kind: str) -> Plant:
    """A runner that is a program beside the run, which leaves its mark elsewhere."""

    def plant(run: Path, elsewhere: Path) -> None:
        script = run / "node"
        script.write_text(f"#!/bin/sh\ntouch {elsewhere}/started\n")
        script.chmod(0o755)
        planned(kind=kind, subjects=[f"a={script}", "a"])(run, elsewhere)

    return plant


def repeated_key(run: Path, _: Path) -> None:
    """A key of `plan.json` twice, with two values."""
    folders.edit(run / "plan.json", '"margin": 0.02', '"margin": 0.02, "margin": 0.5')


def time_beyond_reason(run: Path, _: Path) -> None:
    """A sample of 1e308 ns."""
    lines = (run / "samples.jsonl").read_text().splitlines()
    row = json.loads(lines[1])
    row[json.loads(lines[0])["columns"].index("steady_ns")] = 1e308
    (run / "samples.jsonl").write_text("\n".join([lines[0], json.dumps(row), *lines[2:], ""]))


def hostile_texts(run: Path, _: Path) -> None:
    """Each name, version and reason ends with what drives a terminal."""
    for name in ("plan.json", "samples.jsonl", "verify.jsonl", "blocks.jsonl", "machine.json"):
        text = (run / name).read_text()
        for word in ("node", "bun", "get-pk", "EPYC", "SELECT 1"):
            text = re.sub(rf'"({word}[^"]*)"', lambda m: json.dumps(m[1] + HOSTILE), text)
        (run / name).write_text(text)


def driven(*arguments: str) -> Callable[[Stage], Seen]:
    """What a command prints of hostile texts."""

    def play(stage: Stage) -> Seen:
        seen = reported(hostile_texts, *arguments)(stage)
        return Seen("none left" if "exit 0" in seen.message else seen.fate, seen.message)

    return play


def failing_runner(stage: Stage) -> Seen:
    """A runner whose message drives the terminal and feigns a line of its own."""
    clone = stage.fakes()
    clone.runner("planted", "message-drives-terminal")
    done = clone.sqlitmus("run", "--size", "s", "--case", "all", "-r", "planted", "--blocks", "1")
    shown = done.out + done.err
    if drives := DRIVES.search(shown):
        return Seen("ok", f"{drives[0]!r} was printed")
    if any(line.startswith("feigned") for line in shown.splitlines()) or len(shown) > 10_000:
        return Seen("ok", "a line of its own was printed")
    return Seen("none left", shown)


NO_FILE = "is a link or no file"
FAULTS = [
    *(
        Fault(f"resume: {name} is a link to a file elsewhere", "folder", resumed(link(name)),
              "refused", f"{name} {NO_FILE}")
        for name in ("samples.jsonl", "iterations.jsonl", "blocks.jsonl", "details.jsonl",
                     "plan.json", "report.html", "gate.json")
    ),
    Fault("resume: samples.jsonl has a second name elsewhere", "folder",
          resumed(second_name("samples.jsonl")), "refused", "samples.jsonl has a second name"),
    Fault("resume: logs is a link to a folder elsewhere", "folder", resumed(logs_elsewhere),
          "refused", "logs is a link or no folder"),
    Fault("resume: the plan says that it confirms a run elsewhere", "folder",
          resumed(planned(kind="compare", confirms="../elsewhere/folder")), "refused",
          "plan.json: $.confirms"),
    *(
        Fault(f"resume: the plan of a {kind} names a program to start", "folder",
              resumed(program(kind)), "refused", "which no run begun on this machine named")
        for kind in ("suite", "compare")
    ),
    Fault("resume: a billion blocks", "folder", resumed(planned(blocks=10**9)), "refused",
          "plan.json: $.blocks"),
    Fault("report: report.html is a link to a file elsewhere", "folder",
          reported(link("report.html")), "refused", f"report.html {NO_FILE}"),
    *(
        Fault(f"report: {name} is a pipe", "folder", reported(pipe(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("samples.jsonl", "machine.json", "verify.jsonl")
    ),
    *(
        Fault(f"report: {name} is a folder", "folder", reported(folder(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("samples.jsonl", "verify.jsonl")
    ),
    *(
        Fault(f"report: {name} never ends", "folder", reported(endless(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("samples.jsonl", "machine.json", "verify.jsonl")
    ),
    *(
        Fault(f"report: {key} {value:.0e}", "folder", reported(planned(**{key: value})), "refused",
              f"plan.json: $.{key}")
        for key, value in (("blocks", 10**9), ("blocks", 10**18), ("looks", 10**9))
    ),
    Fault("report: a billion sessions", "folder",
          reported(planned(blocks=10**9, sessions=10**9)), "refused", "plan.json: $.blocks"),
    Fault("report: a key of the plan twice", "folder", reported(repeated_key), "refused",
          "plan.json: the key 'margin' occurs more than once"),
    Fault("report: a sample of 1e308 ns", "folder", reported(time_beyond_reason), "ok", "exit 0"),
    *(
        Fault(f"{arguments[0]} {arguments[2]}: texts that drive a terminal", "folder",
              driven(*arguments), "none left", "")
        for arguments in (
            ("report", "--format", "text"),
            ("report", "--format", "md"),
            ("report", "--format", "json"),
            ("export", "--format", "csv"),
            ("export", "--format", "json"),
            ("export", "--format", "markdown"),
            ("export", "--format", "bmf"),
            ("export", "--format", "gha-benchmark"),
        )
    ),
    Fault("a runner's message drives the terminal", "fake", failing_runner, "none left", "failed"),
]  # fmt: skip
