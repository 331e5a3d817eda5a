"""Each runner of the catalogue, started as the harness does."""

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from sqlitmus.catalog import runners
from sqlitmus.vocabulary import paths
from tests import left_out
from tests.known import KNOWN, ROOT

Json = dict[str, Any]
CONTRACT = ROOT / "runners" / "contract"
# those that set-up can make: one whose tool only a user has is another's code with that tool
RUNNERS = [name for name, spec in KNOWN.runners.items() if not spec.without]


def of_runners(names: list[str]) -> pytest.MarkDecorator:
    """A case for each of these runners, as the parameter `name`."""
    return pytest.mark.parametrize("name", names)


each_runner = of_runners(RUNNERS)


@cache
def _command(name: str) -> tuple[list[str], dict[str, str]] | str:
    """Command line and environment of a runner, or why it is missing."""
    spec = KNOWN.runners[name]
    tools = paths.tools()
    if spec.tool not in tools.paths:
        return tools.missing.get(spec.tool, "run ./just setup")
    return runners.expand(spec.command, tools), runners.environment(spec, tools)


def command(name: str) -> tuple[list[str], dict[str, str]]:
    """Command line and environment of a runner; skips with the reason where its tool is missing."""
    found = _command(name)
    if isinstance(found, str):
        left_out.skip(name, found)
    return found


def need_tools(words: Sequence[str]) -> None:
    """Skip the test where a tool of this command line is missing."""
    for word in words:
        if word.startswith("{") and word.endswith("}"):
            left_out.tool(word[1:-1])


def start(
    name: str, *arguments: str, timeout: int = 60, lines: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a runner to its end, in at most `timeout` seconds, with `lines` on its stdin."""
    line, environment = command(name)
    return subprocess.run(
        [*line, *arguments],
        env=environment,
        capture_output=True,
        input=lines,
        text=True,
        timeout=timeout,
        check=False,
    )


def lacking(features: Json, words: set[str]) -> list[str]:
    """What of a question in these words of the contract a runner says that it lacks."""
    return [lack for lack in features.get("lacks", []) if {*lack.split()} <= words]


@cache
def description(name: str) -> Json:
    """What a runner says of itself."""
    done = start(name, "describe")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
