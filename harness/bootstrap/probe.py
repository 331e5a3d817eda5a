"""Versions of tools, asked once and remembered until something that decides them changes."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from bootstrap.context import Context

TIMEOUT_S = 60


def probe(
    context: Context,
    argv: Sequence[str],
    *,
    cwd: Path,
    watch: Iterable[Path],
    variables: Iterable[str],
) -> str | None:
    """The standard output of `argv`, or None if it cannot be run.

    The answer is kept in the toolchain under a hash of the tool's file, the files and folders in
    `watch` (size and time of change) and the environment `variables`, so that the next call starts
    no process.
    """
    tool = context.find(argv[0])
    if tool is None:
        return None
    seen = [
        list(argv),
        str(cwd),
        [_stamp(path) for path in (tool, tool.resolve(), *watch)],
        [context.environ.get(name) for name in variables],
    ]
    key = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]
    answer = context.toolchain / "probes" / key
    try:
        return answer.read_text("utf-8")
    except OSError:
        pass
    try:
        done = subprocess.run(
            [str(tool), *argv[1:]],
            cwd=cwd,
            env=dict(context.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.decode("utf-8", "replace")
    answer.parent.mkdir(parents=True, exist_ok=True)
    part = answer.with_name(f"{key}.{os.getpid()}")
    part.write_text(text, "utf-8")
    part.replace(answer)
    return text


def _stamp(path: Path) -> list[str | int]:
    try:
        facts = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), facts.st_size, facts.st_mtime_ns]
