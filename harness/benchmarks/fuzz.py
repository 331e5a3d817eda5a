"""Mutants of what a user gives: `./just bench-fuzz [N] [--seed S] [--only TEXT]`.

N run files, and N workloads, traces, databases and catalogues, are changed at random: bytes,
tokens, values of cells, the schema. Real commands read each in a process of its own, which may use
so many seconds of CPU and so much memory. Exit 1 for a traceback, an exit code that is
none of ours, no end, a sequence that drives the terminal, a program that is started or a file that
is written outside of the mutant's folder. A seed gives the same mutants each time; those that find
something are kept. No runner is set up, so what is seen ends before a process starts. POSIX only.
"""

import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks import example_database
from sqlitmus import cli
from sqlitmus.store.file import FILE
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import counted, quoted
from tests.faults.folders import DRIVES

CPU_S, WALL_S, MEMORY = 20, 120, 4 * 2**30
RUNS = paths.CLONE / "reports/example/runs"
EXAMPLE = paths.CLONE / "docs/workload"
LARGEST = 2**20  # bytes of a run file: larger ones only take longer

Rng = random.Random
NUMBERS = (0, -1, 0.5, 1e308, -1e-308, float("inf"), 2**31, 2**53, 2**63 - 1, -(2**63), 10**12)
TEXTS = (
    *("", "\0", "\x1b[2J\x9b31m\r\u202e", "\ufeff", "é\u0301\U0001f4a3", "../../etc/passwd"),
    *("/dev/zero", "{}", "{0.__class__}", "%s", "<script>", "x" * 70_000, "[" * 3000),
    *('{"a":' * 500, "nan", "1e999", "9" * 5000, "NULL", "-", "a\nb", "'\"`;--"),
)
VALUES: tuple[object, ...] = (None, *NUMBERS, *TEXTS, b"\xff\xfe\0")
# What stands in TOML, JSON or SQL in place of a token.
TOKENS = (
    *map(str, NUMBERS),
    *("nan", "inf", "9" * 5000, "[" * 400, "]" * 9, "{" * 90, "'''", '"', '"\\u0000"', "\x1b"),
    *('"\\ud800"', '"\x00"', "true", "[[]]", "{}", '""', "1979-05-27", '"' + "é" * 9000 + '"'),
    *("0x" + "f" * 300, "a." * 200 + "a", "\u202e", "ATTACH", "random()", "zeroblob(999999999)"),
    *("'{:9999999999}'", '"size*99999999999999999999"', '"../x"', '"/dev/zero"', "?", ":n", "@a"),
)
SCHEMAS = (
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
    "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT * FROM r",
    "CREATE TABLE \x1b[2J(a)",
    "DROP TABLE sample",
    "ALTER TABLE run RENAME COLUMN plan TO planned",
    "PRAGMA user_version = 2147483647",
    "PRAGMA application_id = 1",
    "DELETE FROM run",
    "DELETE FROM cell",
)
TOKEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[\w.+-]+|[^\w\s]")


def of_bytes(rng: Rng, content: bytes) -> bytes:
    """Some bytes are others, gone, or there twice."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 30))):
        at = rng.randrange(len(changed) + 1)
        length = rng.choice((1, 4, 100))
        instead = rng.choice((rng.randbytes(length), b"", bytes(changed[at : at + length]) * 2))
        changed[at : at + length] = instead
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.random() < 0.1 else changed)


def of_tokens(rng: Rng, content: bytes) -> bytes:
    """Some tokens are hostile ones, or other tokens of the same text."""
    for _ in range(rng.choice((1, 2, 5))):
        places = [*TOKEN.finditer(content)]
        if not places:
            break
        place, other = rng.choice(places), rng.choice(places)
        instead = rng.choice((other[0], rng.choice(TOKENS).encode("utf-8", "surrogatepass")))
        if len(place[0]) > 9 and rng.random() < 0.5:  # such as SQL
            instead = place[0][:1] + of_tokens(rng, place[0][1:-1]) + place[0][-1:]
        content = content[: place.start()] + instead + content[place.end() :]
    return content


def of_toml(rng: Rng, content: bytes) -> bytes:
    """Other tokens, and TOML nevertheless."""
    for _ in range(50):
        changed = of_tokens(rng, content)
        with suppress(ValueError, RecursionError):
            tomllib.loads(changed.decode())
            return changed
    return content


def of_file(rng: Rng, file: Path, *kinds: Callable[[Rng, bytes], bytes]) -> None:
    """Change what `file` holds, in one of these ways."""
    file.write_bytes(rng.choice(kinds)(rng, file.read_bytes()))


def of_cells(rng: Rng, file: Path) -> None:
    """Change some values of a database, and its schema now and then."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        for _ in range(rng.choice((1, 2, 9))):
            table = rng.choice(names)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})")]
            column = quoted(rng.choice(columns))
            value = rng.choice(VALUES)
            olds = [old for (old,) in db.execute(f"SELECT {column} FROM {table} LIMIT 99")]
            old = rng.choice([*olds, None])
            if isinstance(old, str) and rng.random() < 0.5:  # such as the plan's JSON
                value = of_tokens(rng, old.encode()).decode(errors="replace")
            with suppress(sqlite3.Error):  # as of a key
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (value, old))
        if rng.random() < 0.2:
            with suppress(sqlite3.Error):
                db.execute(rng.choice(SCHEMAS))


Commands = Sequence[Sequence[str]]


def run_file(rng: Rng, folder: Path) -> Commands:
    """A run's folder, and what reads one."""
    whole = sorted(f.parent for f in RUNS.glob(f"*/{FILE}") if f.stat().st_size < LARGEST)
    base = rng.choice(whole)
    run, other = folder / "run", folder / "other"
    shutil.copytree(base, run)
    shutil.copytree(base, other)
    if rng.random() < 0.3:
        of_file(rng, run / FILE, of_bytes)
    else:
        of_cells(rng, run / FILE)
    report = rng.choice(("html", "md", "json", "text"))
    last = [
        ("compare", str(run), str(other)),
        ("merge", f"a={run}", f"b={other}", "--out", str(folder / "merged")),
    ]
    if "compare" not in base.name:  # whose versions of Node are fetched
        last.append(("run", "--resume", str(run)))
    export = rng.choice(("csv", "claims-csv", "json", "markdown", "bmf", "gha-benchmark"))
    return [
        ("report", str(run), "--format", report, "--out", "-"),
        ("export", str(run), "--format", export, "--out", "-"),
        rng.choice(last),
    ]


def workload(rng: Rng, folder: Path) -> Commands:
    """A workload with its database and trace, one of which is changed."""
    for name in ("app.toml", "app.jsonl"):
        shutil.copyfile(EXAMPLE / name, folder / name)
    example_database.write(folder / "app.db", 200)
    if rng.random() < 0.3:
        (folder / "app.toml").write_text('database = "app.db"\ntrace = "app.jsonl"\n')
        of_file(rng, folder / "app.jsonl", of_bytes, of_tokens)
    elif rng.random() < 0.3:
        of_file(rng, folder / "app.db", of_bytes)
    else:
        of_file(rng, folder / "app.toml", of_toml, of_toml, of_toml, of_tokens, of_bytes)
    init = ("workload", "init", str(folder / "new.toml"), "--database", str(folder / "app.db"))
    return [("workload", "verify", str(folder / "app.toml")), init]


def catalogue(rng: Rng, folder: Path) -> Commands:
    """A catalogue of one's own, of which a scenario, a fixture or a runner is changed."""
    for name in ("scenarios", "fixtures", "runners"):
        ignored = shutil.ignore_patterns("node_modules", "target", "obj", "bin", "peers", "plain")
        shutil.copytree(paths.CLONE / name, folder / name, ignore=ignored)
    files = sorted(file for file in folder.rglob("*.toml") if file.name != "Cargo.toml")
    of_file(rng, rng.choice(files), of_toml, of_toml, of_toml, of_tokens, of_bytes)
    kind = rng.choice(("scenarios", "cases", "runners", "profiles", "fixtures", "suites", "claims"))
    return [("list", kind), ("run", "--suite", "full", "--size", "s", "--plan"), ("verify",)]


KINDS: dict[str, Sequence[Callable[[Rng, Path], Commands]]] = {
    "runs": [run_file],
    "files": [workload, workload, catalogue],
}


class Seen(NamedTuple):
    """What a mutant's command did: its exit code, and what is wrong with that, "" for nothing."""

    mutant: str
    command: str
    code: int
    fault: str


def command(arguments: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run a command in a process of its own; its exit code, and all that it wrote."""
    output = folder / "output"
    child = os.fork()
    if not child:
        _as_child(arguments, folder, output)
    end = time.monotonic() + WALL_S
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(ended[1]), output.read_text("utf-8", "replace")


def _as_child(arguments: Sequence[str], folder: Path, output: Path) -> None:
    """Become the command, with what it may do; it never returns."""
    with output.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8") for n in (1, 2))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ |= {"SQLITMUS_TOOLCHAIN": str(folder), "SQLITMUS_LOCK": str(folder / "lock")}
    os.environ.pop("SQLITMUS_PATHS", None)
    paths.RESULTS = folder / "results"
    if (folder / "scenarios").exists():
        paths.ROOT, paths.OWN_RUNNERS = folder, folder / "runners"
        paths.SCENARIOS, paths.FIXTURES = folder / "scenarios", folder / "fixtures"
    sys.argv = ["sqlitmus", *arguments]
    sys.addaudithook(partial(_watch, f"{folder}{os.sep}"))
    try:
        cli.main()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 99)
    finally:
        os._exit(99)


_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _watch(within: str, event: str, arguments: tuple[object, ...]) -> None:
    """Tell what is written outside of `within`, and what is started."""
    if event == "subprocess.Popen" and arguments[0] not in (sys.executable, "uname"):
        os.write(2, f"\nSTARTED {arguments[1]!r}\n".encode())
    changes = event in _CHANGES and arguments[-1] == -1  # no name within a folder that is removed
    changed = changes or (event == "open" and int(str(arguments[2])) & _WRITES)
    named = arguments[event in ("os.link", "os.symlink", "os.rename")]
    if changed and isinstance(named, str | bytes | Path):
        name = os.fsdecode(named)
        if not f"{os.path.normpath(name)}{os.sep}".startswith(within) and name != os.devnull:
            os.write(2, f"\nWROTE {name!r}\n".encode())


def judged(code: int, text: str) -> str:
    """What is wrong with the end of a command; "" for nothing."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"no end within {CPU_S} s of CPU, or {WALL_S} s"
    if code not in set(Exit) - {Exit.INTERNAL}:
        return f"exit {code}"
    if "Traceback (most recent" in text:
        return "a traceback"
    if drives := DRIVES.search(text):
        return f"it prints {drives[0]!r}"
    beyond = re.search(r"^(?:WROTE|STARTED) .*", text, re.MULTILINE)
    return beyond[0] if beyond else ""


def mutant(kind: str, seed: int, folder: Path, number: int) -> list[Seen]:
    """Make one and read it with its commands."""
    rng = Rng(f"{seed}/{kind}/{number}")
    own = folder / f"{kind}-{number}"
    own.mkdir()
    seen: list[Seen] = []
    for arguments in rng.choice(KINDS[kind])(rng, own):
        code, text = command(arguments, own)
        fault = judged(code, text)
        words = " ".join(arguments)
        seen.append(Seen(own.name, words, code, f"{fault}\n{text[-1500:]}" if fault else ""))
    if not any(each.fault for each in seen):
        shutil.rmtree(own, ignore_errors=True)
    return seen


def main(
    count: Annotated[int, typer.Argument(help="Mutants of each kind.")] = 200,
    seed: int = 1,
    only: Annotated[str, typer.Option(help="A kind, or the mutant KIND-NUMBER.")] = "",
) -> None:
    """Make mutants of what a user gives, and have real commands read them."""
    folder = Path(tempfile.mkdtemp(prefix="sqlitmus-fuzz-")).resolve()
    sys.dont_write_bytecode = True  # in a new clone the first mutant of a kind would be blamed
    ways = multiprocessing.get_context("fork")
    faults, codes = 0, Counter[int]()
    cli.command()
    with ProcessPoolExecutor(mp_context=ways) as pool:
        for kind in KINDS:
            numbers = [n for n in range(count) if f"{kind}-{n}" == only or only in ("", kind)]
            for seen in pool.map(partial(mutant, kind, seed, folder), numbers):
                for each in seen:
                    codes[each.code] += 1
                    faults += bool(each.fault)
                    if each.fault:
                        print(f"{each.mutant}: {each.command}: {each.fault}\n", flush=True)
    shares = ", ".join(f"{times} times {code}" for code, times in sorted(codes.items()))
    print(f"seed {seed}: {counted(sum(codes.values()), 'command')}; exit codes: {shares}")
    if faults:
        print(f"{counted(faults, 'fault')}; what was read is in {folder}")
        raise typer.Exit(Exit.GATE_FAILED)
    shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(main)
