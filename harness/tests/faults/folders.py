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


def instead(name: str, put: Callable[[Path, Path], object]) -> Plant:
    """What `put` makes, of the user's diary or of nothing, under the name of a file."""

    def plant(run: Path, elsewhere: Path) -> None:
        (run / name).unlink(missing_ok=True)
        put(run / name, elsewhere / "diary.txt")

    return plant


def link(file: Path, diary: Path) -> None:
    """A link to it."""
    file.symlink_to(diary)


def pipe(file: Path, _: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(file)


def endless(file: Path, _: Path) -> None:
    """A link to a device that never ends."""
    file.symlink_to("/dev/zero")


def folder(file: Path, _: Path) -> None:
    """A folder."""
    file.mkdir()


def second_name(run: Path, elsewhere: Path) -> None:
    """The file has a second name in the user's folder."""
    os.link(run / "run.sqlite", elsewhere / "run.sqlite")


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


def driven(command: str, name: str) -> Callable[[Stage], Seen]:
    """What a command prints of hostile texts in the format of that name."""

    def play(stage: Stage) -> Seen:
        seen = reported(hostile_texts, command, "--format", name)(stage)
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
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON {} BEGIN {}; END"
OTHER_VIEW = "UPDATE sqlite_schema SET sql = replace(sql, 'label', 'runner') WHERE name = 'result'"
RESUMED: list[tuple[str, Plant, str]] = [
    *(
        (f"{name} is a link to a file elsewhere", instead(name, link), f"{name} {NO_FILE}")
        for name in ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "report.html")
    ),
    ("run.sqlite has a second name elsewhere", second_name, "run.sqlite has a second name"),
    ("logs is a link to a folder elsewhere", logs_elsewhere, "logs is a link or no folder"),
    ("the plan says that it confirms a run elsewhere",
     planned(kind="compare", confirms="../elsewhere/folder"), "plan: $.confirms"),
    *(
        (f"the plan of a {kind} names a program to start", program(kind),
         "which no run begun on this machine named")
        for kind in ("suite", "compare")
    ),
    ("a billion blocks", planned(blocks=10**9), "plan: $.blocks"),
    ("a trigger", changed(TRIGGER.format("sample", "DELETE FROM run")), "it also has trigger t"),
]  # fmt: skip
REPORTED: list[tuple[str, Plant, str]] = [
    ("report.html is a link to a file elsewhere", instead("report.html", link),
     f"report.html {NO_FILE}"),
    *(
        (f"{name} {what}", instead(name, put), f"{name} {NO_FILE}")
        for name in ("run.sqlite", "run.sqlite-wal")
        for what, put in (("is a pipe", pipe), ("is a folder", folder), ("never ends", endless))
    ),
    *(
        (f"{key} {value:.0e}", planned(**{key: value}), f"plan: $.{key}")
        for key, value in (("blocks", 10**9), ("blocks", 10**18), ("looks", 10**9))
    ),
    ("a billion sessions", planned(blocks=10**9, sessions=10**9), "plan: $.blocks"),
    ("a sample of 1e308 ns", changed("UPDATE value SET value = 1e308"), "is damaged"),
    ("a trigger", changed(TRIGGER.format("run", "SELECT 1")), "it also has trigger t"),
    ("a view of ours that does something else", changed(OTHER_VIEW), "its tables are not those"),
    ("a rollback journal that names a file elsewhere", journal,
     "run.sqlite-journal: names a file elsewhere"),
]  # fmt: skip
PRINTED = {
    "report": ("text", "md", "json"),
    "export": ("csv", "json", "markdown", "bmf", "gha-benchmark"),
}
FAULTS = [
    *(
        Fault(f"{command}: {title}", "folder", given(plant), "refused", message)
        for command, given, rows in (("resume", resumed, RESUMED), ("report", reported, REPORTED))
        for title, plant, message in rows
    ),
    *(
        Fault(f"{command} {name}: texts that drive a terminal", "folder", driven(command, name),
              "none left", "")
        for command, names in PRINTED.items()
        for name in names
    ),
    Fault("a runner's message drives the terminal", "fake", failing_runner, "none left", "failed"),
]  # fmt: skip
