"""Lint and test commands: skipped with a reason, failed, or passed; never silent."""

import re
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.checks import (
    KINDS,
    Check,
    Outcome,
    load,
    main,
    resolve,
    run,
    set_up,
    side_by_side,
    summarise,
)
from bootstrap.context import make_context

ROOT = Path(__file__).parents[3]
KNOWN = {"python": {"path": "/venv/python"}, "deno": {"missing": "npm not found"}}


def check(*command: str, where: str = ".", any_of: tuple[str, ...] = ()) -> Check:
    return Check("one", "test", command, where, any_of)


@pytest.mark.parametrize(
    ("asked", "words", "reason"),
    [
        (check("{python}", "-m", "{x} {python}"), ["/venv/python", "-m", "{x} {python}"], ""),
        (check("{deno}", "test"), None, "npm not found"),
        (check("{python}", where="runners/zig"), None, "runners/zig is not in this clone"),
        (check("{python}", any_of=("*.a", "b/*.b")), None, ". has no *.a or b/*.b"),
        (check("{python}", any_of=("*.a", "b/*.a")), ["/venv/python"], ""),
    ],
)
def test_a_command_gets_its_tools_or_is_skipped_with_the_reason(
    tmp_path: Path, asked: Check, words: list[str] | None, reason: str
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.a").touch()
    command, why = resolve(asked, tmp_path, KNOWN)
    assert (command, why) == (words, reason)


def test_the_summary_names_what_did_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [
        Outcome("ruff", "passed"),
        Outcome("rust", "failed", "exit code 101"),
        Outcome("deno", "skipped", "npm not found"),
    ]
    assert summarise(outcomes) == 1
    assert capsys.readouterr().out == (
        "failed: rust: exit code 101\n"
        "skipped: deno: npm not found\n"
        "checks: 1 passed, 1 failed, 1 skipped\n"
    )
    assert summarise(outcomes[::2]) == 0


def outcomes(work: Callable[[Check], bool], *names: str) -> list[tuple[str, str]]:
    """What comes of checks side by side: the letter of a name is its tool, unless it is the longest
    of all."""
    checks = [Check(n, "test", (n[0],), ".", (), longest=n == "longest") for n in names]
    done = side_by_side(checks, lambda c: Outcome(c.name, "passed" if work(c) else "failed"))
    return [(outcome.name, outcome.word) for outcome in done]


def test_checks_of_different_tools_run_together_and_those_of_one_in_order() -> None:
    together = threading.Barrier(2, timeout=20)
    order: list[str] = []

    def work(check: Check) -> bool:
        if check.name.endswith("1"):
            together.wait()  # breaks unless the first of both tools are under way at once
        order.append(check.name)
        return True

    done = outcomes(work, "a1", "b1", "a2", "b2")
    assert done == [(name, "passed") for name in ("a1", "a2", "b1", "b2")]
    for tool in "ab":
        assert [name for name in order if name[0] == tool] == [f"{tool}1", f"{tool}2"]


def test_the_longest_starts_first_and_the_others_beside_it() -> None:
    begun = threading.Event()

    def work(check: Check) -> bool:
        if check.longest:
            begun.set()
        return begun.wait(timeout=20)

    done = outcomes(work, "a1", "a2", "longest")
    assert done == [(name, "passed") for name in ("longest", "a1", "a2")]


def test_output_is_whole_and_a_failure_has_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"python": {"path": sys.executable}}
    code = "import sys; print('a', flush=True); print('b', file=sys.stderr); sys.exit(3)"
    found = run(check("{python}", "-c", code), make_context(tmp_path), known)
    assert found == Outcome("one", "failed", "exit code 3")
    assert re.fullmatch(r"a\nb\n== one: \d+\.\d s\n", capsys.readouterr().out)


def test_what_set_up_should_have_made_is_a_failure_and_what_it_cannot_make_is_none(
    tmp_path: Path,
) -> None:
    here = make_context(ROOT)
    bare = replace(here, toolchain=tmp_path, environ={"PATH": str(tmp_path)})
    names = {outcome.name for outcome in set_up(bare, "test") if outcome.word == "failed"}
    assert "set-up of python-dev" in names
    assert "set-up of dotnet" not in names  # no SDK is on that PATH: it is missing, with a hint


def test_an_unknown_check_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--", "rufff"]) == 2
    err = capsys.readouterr().err
    assert "no check rufff" in err
    assert {"ruff", "pyright"} <= set(err.split())


NAMED = {
    "lint": [
        *("ruff", "pyright", "biome", "rustfmt", "clippy", "dotnet-format"),
        *("actionlint", "zizmor", "workflow-schema", "dependabot-schema"),
    ],
    "test": ["pytest", "rust", "dotnet", "node", "bun", "deno"],
    "format": ["ruff-format", "biome", "rustfmt", "dotnet-format"],
}


def test_the_file_of_checks_covers_every_kind_language_and_workflow() -> None:
    checks = {(check.kind, check.name): check.command for check in load()}
    assert {(kind, name) for kind in KINDS for name in NAMED[kind]} <= checks.keys()
    files = (ROOT / ".github" / "workflows").glob("*.yml")
    held = {word for word in checks["lint", "workflow-schema"] if word.endswith(".yml")}
    assert held == {path.relative_to(ROOT).as_posix() for path in files}
