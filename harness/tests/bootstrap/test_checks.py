"""Lint and test commands: skipped with a reason, failed, or passed; never silent."""

from pathlib import Path

import pytest

from bootstrap.checks import KINDS, Check, Outcome, load, main, resolve, summarise

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


def test_an_unknown_check_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--", "rufff"]) == 2
    err = capsys.readouterr().err
    assert "no check rufff" in err
    assert "ruff pyright" in err.replace("ruff-format ", "")


def test_the_file_of_checks_covers_every_kind_and_language() -> None:
    names = {kind: {one.name for one in load() if one.kind == kind} for kind in KINDS}
    assert {"ruff", "pyright", "biome", "rustfmt", "clippy", "dotnet-format"} <= names["lint"]
    assert {"actionlint", "zizmor", "workflow-schema", "dependabot-schema"} <= names["lint"]
    assert names["test"] == {"pytest", "rust", "dotnet", "node", "bun", "deno"}
    assert {"ruff-format", "biome", "rustfmt", "dotnet-format"} <= names["format"]


def test_every_workflow_is_held_against_its_schema() -> None:
    (check,) = [one for one in load() if one.name == "workflow-schema"]
    files = (ROOT / ".github" / "workflows").glob("*.yml")
    named = [word for word in check.command if word.endswith(".yml")]
    assert sorted(named) == sorted(path.relative_to(ROOT).as_posix() for path in files)
