"""A clone and a toolchain in a temporary folder, with no tool on PATH but a test's fakes."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bootstrap.commands import Commands
from bootstrap.context import Context, Settings
from bootstrap.engine import ensure
from bootstrap.progress import Progress
from bootstrap.step import Entry, State, Step


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
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)
        return path

    def compilers(self, cargo: str) -> None:
        """Put Rust with this `cargo`, a C compiler and what scripts need on PATH."""
        shell = {tool: f'exec /bin/{tool} "$@"' for tool in ("mkdir", "sh")}
        for name, script in {"cargo": cargo, "cc": "", "rustc": "echo rustc 1", **shell}.items():
            self.tool(name, script)

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
