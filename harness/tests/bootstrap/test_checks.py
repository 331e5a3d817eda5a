"""Lint and test commands: skipped with a reason, failed, or passed; never silent."""

import re
import sys
import threading
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


def test_tools_are_filled_in(tmp_path: Path) -> None:
    command, _ = resolve(check("{python}", "-m", "{x} {python}"), tmp_path, KNOWN)
    assert command == ["/venv/python", "-m", "{x} {python}"]


def test_an_absent_tool_skips_with_its_hint(tmp_path: Path) -> None:
    assert resolve(check("{deno}", "test"), tmp_path, KNOWN) == (None, "npm not found")


def test_an_absent_folder_or_file_skips_with_its_name(tmp_path: Path) -> None:
    absent = resolve(check("{python}", where="runners/zig"), tmp_path, KNOWN)
    assert absent == (None, "runners/zig is not in this clone")
    empty = check("{python}", any_of=("*.a", "b/*.a"))
    assert resolve(empty, tmp_path, KNOWN) == (None, ". has no *.a or b/*.a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.a").touch()
    assert resolve(empty, tmp_path, KNOWN)[0] == ["/venv/python"]


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


def test_checks_of_different_tools_run_together_and_those_of_one_in_order() -> None:
    together = threading.Barrier(2, timeout=20)
    order: list[str] = []

    def work(check: Check) -> Outcome:
        if check.name.endswith("1"):
            together.wait()  # breaks unless the first of both tools are under way at once
        order.append(check.name)
        return Outcome(check.name, "passed")

    checks = [Check(name, "test", (name[0],), ".", ()) for name in ("a1", "b1", "a2", "b2")]
    outcomes = side_by_side(checks, work)
    assert [outcome.name for outcome in outcomes] == ["a1", "a2", "b1", "b2"]
    for tool in "ab":
        assert [name for name in order if name[0] == tool] == [f"{tool}1", f"{tool}2"]


def test_the_longest_starts_first_and_the_others_beside_it() -> None:
    begun = threading.Event()
    order: list[str] = []

    def work(check: Check) -> Outcome:
        if check.longest:
            begun.set()
        elif not begun.wait(timeout=20):
            return Outcome(check.name, "failed")
        order.append(check.name)
        return Outcome(check.name, "passed")

    names = ("a1", "a2", "longest")
    checks = [Check(n, "test", (n[0],), ".", (), longest=n == "longest") for n in names]
    outcomes = side_by_side(checks, work)
    assert [(one.name, one.word) for one in outcomes] == [
        ("longest", "passed"), ("a1", "passed"), ("a2", "passed")
    ]  # fmt: skip


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


def test_the_file_of_checks_covers_every_kind_and_language() -> None:
    names = {kind: {one.name for one in load() if one.kind == kind} for kind in KINDS}
    assert {"ruff", "pyright", "biome", "rustfmt", "clippy", "dotnet-format"} <= names["lint"]
    assert {"actionlint", "zizmor", "workflow-schema", "dependabot-schema"} <= names["lint"]
    assert {"pytest", "rust", "dotnet", "node", "bun", "deno"} <= names["test"]
    assert {"ruff-format", "biome", "rustfmt", "dotnet-format"} <= names["format"]


def test_every_workflow_is_held_against_its_schema() -> None:
    (check,) = [one for one in load() if one.name == "workflow-schema"]
    files = (ROOT / ".github" / "workflows").glob("*.yml")
    named = [word for word in check.command if word.endswith(".yml")]
    assert sorted(named) == sorted(path.relative_to(ROOT).as_posix() for path in files)
