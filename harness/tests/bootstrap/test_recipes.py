"""Help and lists of recipes: said before anything is set up, and alike with what just reads."""

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from bootstrap import recipes
from bootstrap.context import Settings, make_context
from bootstrap.main import outlast
from bootstrap.python_steps import PYTHON
from bootstrap.step import look

ROOT = Path(__file__).parents[3]
DECLARED = recipes.read(ROOT / "Justfile")
LISTING = "usage: ./just RECIPE [ARGUMENTS]\n       ./just RECIPE --help\n\n"
BENCH_ALL = """usage: ./just bench-all [ARGS]...

Measure: the full suite, 82 cases, budget one hour; --plan says what fits, --time-budget sets it

It is `./just run --suite full`; `./just run --help` explains its other options.
"""


@pytest.fixture
def just() -> str:
    """The real just that set-up installed."""
    path = look(PYTHON, make_context(ROOT)).path("just")
    if path is None:
        pytest.skip("just is not set up; run ./just setup")
    return str(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *[(line, LISTING) for line in ("", "--list", "-l", "--help", "-h")],
        ("version --help", "usage: ./just version\n\nThe version of sqlitmus\n"),
        ("lint ruff -h", "usage: ./just lint [NAMES]...\n"),
        ("check-report -h", "usage: ./just check-report FILE [OPTIONS]...\n"),
        ("bench-all -r bun --help", BENCH_ALL),
        *[(line, None) for line in ("run --help", "list", "--show run", "x=1 run")],
    ],
)
def test_what_a_program_does_not_explain_is_explained(line: str, said: str | None) -> None:
    answer = recipes.answer(line.split(), DECLARED)
    assert (answer or "").startswith(said or "")
    assert (answer is None) == (said is None)
    assert recipes.unknown(line.split(), DECLARED) is None


def test_help_and_refusals_need_neither_toolchain_nor_tools(tmp_path: Path) -> None:
    def said(*words: str) -> tuple[int, str, str]:
        """Calls set-up as `./just` does."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", ROOT / "harness" / "bootstrap", *words],
            env={"SQLITMUS_TOOLCHAIN": str(tmp_path / "toolchain"), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    code, listed, err = said("--list")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in listed for name in DECLARED)
    assert said("rnu", "--help") == (2, "", "there is no recipe 'rnu'; did you mean run?\n")
    advice = "./just --list says which there are"
    assert recipes.unknown(["zzz"], DECLARED) == f"there is no recipe 'zzz'; {advice}"
    assert not (tmp_path / "toolchain").exists()


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (["bench-all", "-r", "a b"], ["-m", "sqlitmus", "run", "--suite", "full", "-r", "a b"]),
        (["bench-self", "-h"], ["harness/benchmarks/self_cost.py", "--help"]),
        (["test", "ruff"], ["-m", "bootstrap.checks", "lint", "test", "--", "ruff"]),
        *[([word, "run"], None) for word in ("coverage", "check-report", "setup", "-q", "x=1")],
    ],
)
def test_a_recipe_that_only_starts_a_program_is_that_program(
    words: list[str], program: list[str] | None
) -> None:
    assert recipes.program(words, DECLARED) == program


def test_the_short_option_is_spelt_out_behind_the_recipe_only() -> None:
    assert recipes.spelt_out(["-q", "run", "-h", "-f", "x"]) == ["-q", "run", "--help", "-f", "x"]
    assert recipes.spelt_out(["-h"]) == ["-h"]


def test_help_knows_the_recipes_as_just_does(just: str) -> None:
    words = [just, "--justfile", ROOT / "Justfile", "--dump", "--dump-format", "json"]
    dumped = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    expected = {
        name: (facts["doc"], [parameter["name"] for parameter in facts["parameters"]])
        for name, facts in dumped["recipes"].items()
        if not facts["private"]
    }
    read = {
        name: (recipe.comment, [word.strip("*+") for word in recipe.parameters.split()])
        for name, recipe in DECLARED.items()
    }
    assert read == expected


def test_every_recipe_that_set_up_knows_exists() -> None:
    assert set(Settings.load().recipes) <= set(DECLARED)


@pytest.mark.skipif(os.name == "nt", reason="the recipe is a line for sh")
@pytest.mark.parametrize("code", [1, 130])
def test_an_exit_code_passes_through_just_without_a_word(
    just: str, tmp_path: Path, code: int
) -> None:
    text = (ROOT / "Justfile").read_text("utf-8")
    (tmp_path / "Justfile").write_text(f"{text}\nends:\n    @exit {code}\n", "utf-8")
    done = subprocess.run([just, "ends"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_ctrl_c_is_left_to_the_child_where_a_process_cannot_be_replaced() -> None:
    """It hears Ctrl-C twice, then ends as interrupted."""
    child = Mock()
    child.wait.side_effect = [KeyboardInterrupt, KeyboardInterrupt, 130]
    assert outlast(child) == 130
