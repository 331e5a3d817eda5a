"""Each runner of the catalogue, started as the harness does."""

import json
import subprocess
from functools import cache
from typing import Any

from sqlitmus import catalog, paths, runners
from tests import left_out

Json = dict[str, Any]
CONTRACT = paths.RUNNERS / "contract"
RUNNERS = list(catalog.load().runners)


@cache
def _command(name: str) -> tuple[list[str], dict[str, str]] | str:
    """Command line and environment of a runner, or why it is missing."""
    spec = catalog.load().runners[name]
    tools = paths.tools()
    if spec.tool not in tools.paths:
        return tools.missing.get(spec.tool, "run ./just setup")
    return runners.expand(spec.command, tools), runners.environment(spec)


def command(name: str) -> tuple[list[str], dict[str, str]]:
    """Command line and environment of a runner; skips with the reason where its tool is missing."""
    found = _command(name)
    if isinstance(found, str):
        left_out.skip(name, found)
    return found


def start(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a runner to its end."""
    line, environment = command(name)
    return subprocess.run(
        [*line, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@cache
def description(name: str) -> Json:
    """What a runner says of itself."""
    done = start(name, "describe")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
