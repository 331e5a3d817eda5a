"""Run directories from elsewhere: links, pipes, absurd numbers, texts that drive a terminal.

Beside each lies a folder of the user's, in which nothing may change.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from sqlitmus.store.file import Verified
from sqlitmus.store.folder import RunDirectory
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
    """A file that has a second name in the user's folder."""

    def plant(run: Path, elsewhere: Path) -> None:
        os.link(run / name, elsewhere / name)

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


def journal(run: Path, elsewhere: Path) -> None:
    """A journal as of a transaction over several files, whose list of them is the diary."""
    name = str(elsewhere / "diary.txt").encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    tail = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + magic
    (run / "run.sqlite-journal").write_bytes(magic + bytes(504) + tail)


def logs_elsewhere(run: Path, elsewhere: Path) -> None:
    """`logs` is a link to a folder of the user's."""
    (run / "logs").rmdir()
    (run / "logs").symlink_to(elsewhere / "folder")


def planned(**changes: object) -> Plant:
    """Other values in the plan."""
    return lambda run, _: folders.replan(run, **changes)


def changed(statement: str) -> Plant:
    """What somebody else's statement makes of the file."""
    return lambda run, _: folders.change(run, statement)


def program(kind: str) -> Plant:
    """A runner that is a program beside the run, which leaves its mark elsewhere."""

    def plant(run: Path, elsewhere: Path) -> None:
        script = run / "node"
        script.write_text(f"#!/bin/sh\ntouch {elsewhere}/started\n")
        script.chmod(0o755)
        planned(kind=kind, subjects=[f"a={script}", "a"])(run, elsewhere)

    return plant


def hostile_texts(run: Path, _: Path) -> None:
    """Each name, version and reason ends with what drives a terminal."""
    for table, columns in {
        "run": ["plan"],
        "cell": ["case_id", "runner", "verification"],
        "sample": ["label", "reason"],
        "fact": ["value"],
    }.items():
        for column in columns:
            for (text,) in folders.ask(run, f"SELECT DISTINCT {column} FROM {table}"):
                folders.change(
                    run, f"UPDATE {table} SET {column} = ? WHERE {column} = ?", driving(text), text
                )


def driving(text: str | None) -> str | None:
    """`text` with the hostile characters at the end of each of its names."""
    names = ("node", "bun", "get-pk", "EPYC", "SELECT 1")
    if text in names:
        return f"{text}{HOSTILE}"
    for name in names:
        text = text and re.sub(rf'"({name}[^"]*)"', lambda m: json.dumps(m[1] + HOSTILE), text)
    return text


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
        for name in ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "report.html")
    ),
    Fault("resume: run.sqlite has a second name elsewhere", "folder",
          resumed(second_name("run.sqlite")), "refused", "run.sqlite has a second name"),
    Fault("resume: logs is a link to a folder elsewhere", "folder", resumed(logs_elsewhere),
          "refused", "logs is a link or no folder"),
    Fault("resume: the plan says that it confirms a run elsewhere", "folder",
          resumed(planned(kind="compare", confirms="../elsewhere/folder")), "refused",
          "plan: $.confirms"),
    *(
        Fault(f"resume: the plan of a {kind} names a program to start", "folder",
              resumed(program(kind)), "refused", "which no run begun on this machine named")
        for kind in ("suite", "compare")
    ),
    Fault("resume: a billion blocks", "folder", resumed(planned(blocks=10**9)), "refused",
          "plan: $.blocks"),
    Fault("report: report.html is a link to a file elsewhere", "folder",
          reported(link("report.html")), "refused", f"report.html {NO_FILE}"),
    *(
        Fault(f"report: {name} is a pipe", "folder", reported(pipe(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("run.sqlite", "run.sqlite-wal")
    ),
    *(
        Fault(f"report: {name} is a folder", "folder", reported(folder(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("run.sqlite", "run.sqlite-wal")
    ),
    *(
        Fault(f"report: {name} never ends", "folder", reported(endless(name)), "refused",
              f"{name} {NO_FILE}")
        for name in ("run.sqlite", "run.sqlite-wal")
    ),
    *(
        Fault(f"report: {key} {value:.0e}", "folder", reported(planned(**{key: value})), "refused",
              f"plan: $.{key}")
        for key, value in (("blocks", 10**9), ("blocks", 10**18), ("looks", 10**9))
    ),
    Fault("report: a billion sessions", "folder",
          reported(planned(blocks=10**9, sessions=10**9)), "refused", "plan: $.blocks"),
    Fault("report: a sample of 1e308 ns", "folder",
          reported(changed("UPDATE value SET value = 1e308")), "refused", "is damaged"),
    Fault("report: a trigger", "folder",
          reported(changed("CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END")), "refused",
          "it also has trigger t"),
    Fault("resume: a trigger", "folder",
          resumed(changed("CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM run; END")),
          "refused", "it also has trigger t"),
    Fault("report: a view of ours that does something else", "folder",
          reported(changed("UPDATE sqlite_schema SET sql = replace(sql, 'label', 'runner') "
                           "WHERE name = 'result'")), "refused", "its tables are not those"),
    Fault("report: a rollback journal that names a file elsewhere", "folder",
          reported(journal), "refused", "run.sqlite-journal: names a file elsewhere"),
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
