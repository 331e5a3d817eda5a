"""Runs lint, tests or formatters from `checks.toml`; what cannot run is skipped with a reason.

`python -m bootstrap.checks KIND... [-- NAME...]`, where a kind is lint, test or format. Checks of
different tools run side by side, each with its output whole.
"""

import itertools
import os
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.built_steps import cargo_target, dotnet_artifacts
from bootstrap.context import Context, make_context
from bootstrap.engine import log_of
from bootstrap.progress import Progress
from bootstrap.step import look
from bootstrap.steps import STEPS
from bootstrap.tools import filled, tools

KINDS = ("lint", "test", "format")
EXIT_FAILED = 1
EXIT_USAGE = 2


@dataclass(frozen=True)
class Check:
    """One command of one kind; `longest` if the others fit beside it."""

    name: str
    kind: str
    command: tuple[str, ...]
    where: str
    any: tuple[str, ...]
    longest: bool = False

    @property
    def label(self) -> str:
        """The name to print: a linter and a test may share one."""
        return self.name if self.kind != "lint" else f"{self.name} (lint)"


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
        Check(
            entry["name"],
            kind,
            tuple(entry[kind]),
            entry.get("where", "."),
            tuple(entry.get("any", ())),
            entry.get("longest", False),
        )
        for entry in raw
        for kind in KINDS
        if kind in entry
    ]


def set_up(context: Context, recipe: str) -> list[Outcome]:
    """A failure for each step that `recipe` needs, that could be made and is not there.

    Without it, tests of what is absent would be skipped in silence.
    """
    states = {name: look(STEPS[name], context) for name in context.settings.recipes[recipe]}
    return [
        Outcome(f"set-up of {name}", "failed", f"see {log_of(context, name)}")
        for name, state in states.items()
        if state.to_make
    ]


def resolve(
    check: Check, clone: Path, known: Mapping[str, Mapping[str, str]]
) -> tuple[list[str] | None, str]:
    """The command with its tools filled in, or None and why the check has to be skipped."""
    folder = clone / check.where
    if not folder.is_dir():
        return None, f"{check.where} is not in this clone"
    if check.any and not any(itertools.chain(*(folder.glob(glob) for glob in check.any))):
        return None, f"{check.where} has no {' or '.join(check.any)}"
    return filled(check.command, known)


def run(
    check: Check,
    context: Context,
    known: Mapping[str, Mapping[str, str]],
    *,
    through: bool = False,
) -> Outcome:
    """Run one check; its output passes `through`, or is printed at the end."""
    command, reason = resolve(check, context.clone, known)
    if command is None:
        print(f"== {check.label}: skipped: {reason}", flush=True)
        return Outcome(check.label, "skipped", reason)
    environ = {
        **context.environ,
        # keeps build output out of the clone
        "CARGO_TARGET_DIR": str(cargo_target(context, "rust")),
        "ArtifactsPath": str(dotnet_artifacts(context)),
        "UseSharedCompilation": "false",
    }
    if not sys.stdout.isatty():
        environ["NO_COLOR"] = "1"
    if through:
        print(f"== {check.label}", flush=True)
    output = None if through else subprocess.PIPE
    started = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=context.clone / check.where,
            env=environ,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        return Outcome(check.label, "failed", str(error))
    text = (done.stdout or b"").decode(errors="replace")
    print(f"{text}== {check.label}: {time.monotonic() - started:.1f} s\n", end="", flush=True)
    if done.returncode:
        return Outcome(check.label, "failed", f"exit code {done.returncode}")
    return Outcome(check.label, "passed")


def side_by_side(checks: Sequence[Check], work: Callable[[Check], Outcome]) -> list[Outcome]:
    """Outcomes of all: of one tool in order, of different ones together; the longest starts first.

    Checks of one tool share its folders of build output.
    """
    lanes: dict[str, list[Check]] = {check.name: [check] for check in checks if check.longest}
    for check in checks:
        if not check.longest:
            lanes.setdefault(check.command[0], []).append(check)
    interrupted = threading.Event()

    def follow(lane: list[Check]) -> list[Outcome]:
        return [work(check) for check in lane if not interrupted.is_set()]

    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
        try:
            return [outcome for lane in pool.map(follow, lanes.values()) for outcome in lane]
        except BaseException:
            interrupted.set()
            raise


def main(argv: Sequence[str]) -> int:
    """Run the checks of the kinds and names asked for; 1 if one failed, 2 for an unknown name."""
    words = list(argv)
    cut = words.index("--") if "--" in words else len(words)
    kinds, names = words[:cut], words[cut + 1 :]
    checks = [check for check in load() if check.kind in kinds]
    unknown = [name for name in names if name not in {check.name for check in checks}]
    if unknown or not kinds or not set(kinds) <= set(KINDS):
        print(f"no check {', '.join(unknown) or ', '.join(kinds)}; there are:", file=sys.stderr)
        print(" ".join(dict.fromkeys(check.name for check in checks)), file=sys.stderr)
        return EXIT_USAGE
    context = make_context(Path(__file__).resolve().parents[2])
    failures = [] if names else set_up(context, kinds[-1])
    known = tools(context)
    chosen = [check for check in checks if not names or check.name in names]

    def work(check: Check) -> Outcome:
        return run(check, context, known, through=in_turn or check.longest)

    in_turn = "format" in kinds or len(chosen) == 1  # formatters may change the same file
    done = list(map(work, chosen)) if in_turn else side_by_side(chosen, work)
    return summarise(failures + done)


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
