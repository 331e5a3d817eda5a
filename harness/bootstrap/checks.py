"""Runs lint, tests or formatters from `checks.toml`; what cannot run is skipped with a reason.

`python -m bootstrap.checks KIND... [-- NAME...]`, where a kind is lint, test or format.
"""

import itertools
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bootstrap.built_steps import cargo_target, dotnet_artifacts, dotnet_version
from bootstrap.context import Context, make_context
from bootstrap.engine import log_of
from bootstrap.main import STEPS
from bootstrap.paths import ENTRIES, entry
from bootstrap.progress import Progress
from bootstrap.step import look

# entries that only checks need -> (step, entry of the step)
OWN_ENTRIES = {
    "python": ("python-dev", "python-dev"),
    "zizmor": ("python-dev", "zizmor"),
    "biome": ("npm-dev", "biome"),
    "pyright": ("npm-dev", "pyright"),
    "actionlint": ("actionlint", "actionlint"),
}
KINDS = ("lint", "test", "format")
EXIT_FAILED = 1
EXIT_USAGE = 2


@dataclass(frozen=True)
class Check:
    """One command of one kind."""

    name: str
    kind: str
    command: tuple[str, ...]
    where: str
    any: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """How a check ended: `passed`, `failed` or `skipped`, with the reason of the latter two."""

    name: str
    word: str
    reason: str = ""


def load() -> list[Check]:
    """All checks in the file's order, one for each kind that an entry has."""
    path = Path(__file__).with_name("checks.toml")
    raw: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["check"]
    return [
        Check(one["name"], kind, tuple(one[kind]), one.get("where", "."), tuple(one.get("any", ())))
        for one in raw
        for kind in KINDS
        if kind in one
    ]


def tools(context: Context) -> dict[str, dict[str, str]]:
    """Every `{tool}` of a command, as `{"path": ...}` or `{"missing": reason}`."""
    states = {name: look(step, context) for name, step in STEPS.items()}
    for name, state in states.items():
        # the recipe set it up before it came here
        if not state.ready and not state.missing and log_of(context, name).exists():
            reason = f"set-up failed; see {log_of(context, name)}"
            states[name] = replace(state, missing=reason)
    sources = {**ENTRIES, **OWN_ENTRIES}
    known = {name: entry(states, *source) for name, source in sources.items()}
    for name, tool, hint in (("cargo", "cargo", "cargo"), ("system-node", "node", "npm")):
        found = context.find(tool)
        known[name] = {"path": str(found)} if found else {"missing": context.hint(hint)}
    dotnet = context.find("dotnet") if dotnet_version(context) else None
    known["dotnet"] = {"path": str(dotnet)} if dotnet else {"missing": context.hint("dotnet")}
    return known


def resolve(
    check: Check, clone: Path, known: Mapping[str, Mapping[str, str]]
) -> tuple[list[str] | None, str]:
    """The command with its tools filled in, or None and why the check has to be skipped."""
    folder = clone / check.where
    if not folder.is_dir():
        return None, f"{check.where} is not in this clone"
    if check.any and not any(itertools.chain(*(folder.glob(glob) for glob in check.any))):
        return None, f"{check.where} has no {' or '.join(check.any)}"
    words: list[str] = []
    for word in check.command:
        named = re.fullmatch(r"\{([a-z-]+)\}", word)
        tool = known[named[1]] if named else {"path": word}
        if "path" not in tool:
            return None, tool["missing"]
        words.append(tool["path"])
    return words, ""


def run(check: Check, context: Context, known: Mapping[str, Mapping[str, str]]) -> Outcome:
    """Run one check with its output passed through."""
    label = check.name if check.kind != "lint" else f"{check.name} (lint)"
    command, reason = resolve(check, context.clone, known)
    if command is None:
        print(f"== {label}: skipped: {reason}", flush=True)
        return Outcome(label, "skipped", reason)
    print(f"== {label}", flush=True)
    environ = {
        **context.environ,
        # keeps build output out of the clone
        "CARGO_TARGET_DIR": str(cargo_target(context, "rust")),
        "ArtifactsPath": str(dotnet_artifacts(context)),
        "UseSharedCompilation": "false",
    }
    if not sys.stdout.isatty():
        environ["NO_COLOR"] = "1"
    started = time.monotonic()
    try:
        code = subprocess.run(
            command, cwd=context.clone / check.where, env=environ, check=False
        ).returncode
    except OSError as error:
        return Outcome(label, "failed", str(error))
    print(f"== {label}: {time.monotonic() - started:.1f} s", flush=True)
    return Outcome(label, "passed") if code == 0 else Outcome(label, "failed", f"exit code {code}")


def main(argv: Sequence[str]) -> int:
    """Run the checks of the kinds and names asked for; 1 if one failed, 2 for an unknown name."""
    kinds, names = _split(argv)
    checks = [check for check in load() if check.kind in kinds]
    unknown = [name for name in names if name not in {check.name for check in checks}]
    if unknown or not kinds or not set(kinds) <= set(KINDS):
        print(f"no check {', '.join(unknown) or ', '.join(kinds)}; there are:", file=sys.stderr)
        print(" ".join(dict.fromkeys(check.name for check in checks)), file=sys.stderr)
        return EXIT_USAGE
    context = make_context(Path(__file__).resolve().parents[2])
    known = tools(context)
    outcomes = [run(one, context, known) for one in checks if not names or one.name in names]
    return summarise(outcomes)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    words = list(argv)
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1 :]


def summarise(outcomes: Sequence[Outcome]) -> int:
    """Print what did not pass and the counts; 1 if a check failed."""
    count = {
        word: sum(one.word == word for one in outcomes) for word in ("passed", "failed", "skipped")
    }
    for one in outcomes:
        if one.word != "passed":
            print(f"{one.word}: {one.name}: {one.reason}")
    print(f"checks: {', '.join(f'{number} {word}' for word, number in count.items())}", flush=True)
    return EXIT_FAILED if count["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        Progress().say("interrupted")
        sys.exit(130)
