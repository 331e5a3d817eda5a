"""Set-ups to be killed, in a copy of this clone with a toolchain of its own, and what is left.

Only cheap steps are made: on its PATH there is no cargo, dotnet or go. So `doctor`, with which it
ends, says that hyperfine is missing. Python's packages are downloaded once, and npm's come from its
cache.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from sqlitmus.vocabulary import paths

COPIED = ("harness", "runners", "scenarios", "fixtures", "just", "Justfile")
NOT_COPIED = ("node_modules", "__pycache__", "target", "bin", "obj")
DEAR = {"cargo", "rustc", "dotnet", "go"}
LOCKS = ("requirements.txt", "requirements-just.txt")
MADE = ("python", "npm", "sync-counter")


class SetUps:
    """One set-up that ended well, in `seconds`, as the measure of those that are killed."""

    def __init__(self, folder: Path) -> None:
        self._clone = folder / "clone"
        self._toolchain = folder / "toolchain"
        for name in COPIED:
            _copy(paths.ROOT / name, self._clone / name)
        chosen = {
            "PATH": str(_tools(folder / "tools")),
            "SQLITMUS_TOOLCHAIN": str(self._toolchain),
            "SQLITMUS_LOCK": str(folder / "lock"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(_wheels(folder / "wheels")),
            "npm_config_prefer_offline": "true",
        }
        inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DOTNET_ROOT")}
        self._environment = {**inherited, **chosen}
        begin = time.monotonic()
        self._ending = self._finish()
        self.seconds = time.monotonic() - begin
        self._content = self._made()
        absent = [name for name in MADE if not any(p.startswith(name) for p in self._content)]
        assert not absent, self._ending

    def kill(self, after_s: float) -> bool:
        """Kill a set-up in an empty toolchain; False when it had ended before."""
        shutil.rmtree(self._toolchain)
        process = self._start()
        time.sleep(after_s)
        process.kill()
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def left(self) -> list[psutil.Process]:
        """The processes of a set-up in this toolchain, and their names on stderr."""
        return left_with("SQLITMUS_TOOLCHAIN", self._toolchain)

    def unlike(self) -> int:
        """Files that another set-up makes, or leaves, in another way than an undisturbed one.

        One more when it ends in another way.
        """
        ending, content = self._finish(), self._made()
        differ = sorted(name for name, _ in self._content.items() ^ content.items())
        for name in dict.fromkeys(differ):
            print(f"unlike: {name}", file=sys.stderr)
        if ending != self._ending:
            print(f"it ended with {ending} instead of {self._ending}", file=sys.stderr)
        return len(set(differ)) + (ending != self._ending)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._clone / "just", "setup"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _finish(self) -> int:
        process = self._start()
        process.communicate()
        return process.returncode

    def _made(self) -> dict[str, str]:
        """What the steps made, by path: a hash of the file, or where a link leads."""
        files = (file for name in MADE for file in (self._toolchain / name).rglob("*"))
        return {
            file.relative_to(self._toolchain).as_posix(): _content(file)
            for file in files
            if (file.is_symlink() or file.is_file()) and file.suffix != ".pyc"
        }


def left_with(variable: str, value: Path, *words: str) -> list[psutil.Process]:
    """The processes with `value` in this variable of their environment, or one of the `words` on
    their command line, and their names on stderr."""
    processes: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            marked = process.environ().get(variable) == str(value)
            if marked or any(word in line for word in words):
                print(f"left: {line}", file=sys.stderr)
                processes.append(process)
    return processes


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*NOT_COPIED))
    else:
        shutil.copy(source, target)


def _tools(folder: Path) -> Path:
    """A folder with links to all that is on PATH, apart from what makes dear steps."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        with suppress(OSError):
            for file in Path(place).iterdir():
                link = folder / file.name
                if file.name not in DEAR and not link.is_symlink():
                    link.symlink_to(file)
    return folder


def _wheels(folder: Path) -> Path:
    """A folder with the packages of the harness."""
    for lock in LOCKS:
        words = ["download", "--quiet", "--require-hashes", "--only-binary", ":all:", "--dest"]
        subprocess.run(
            [sys.executable, "-m", "pip", *words, folder, "-r", paths.ROOT / "harness" / lock],
            check=True,
        )
    return folder


def _content(file: Path) -> str:
    if file.is_symlink():
        return f"-> {file.readlink()}"
    data = file.read_bytes()
    if file.name == ".sqlitmus-step.json":  # it says how long the step took
        data = json.dumps({**json.loads(data), "seconds": 0}).encode()
    return hashlib.sha256(data).hexdigest()
