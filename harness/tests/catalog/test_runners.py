"""Runners as they are found: described, missing with a reason, in a scrubbed environment."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import definitions, runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.paths import Tools

TOOLS = Tools({"python": sys.executable}, {"absent": "install it from its shop"})
DESCRIPTION = """{"contract": 2,
 "identity": {"runner": "x", "runtime": {"name": "r", "version": "1"},
  "driver": {"name": "d", "version": "2"}, "architecture": "x86_64"},
 "sqlite": {"version": "3.50.0", "source_id": "s", "compile_options": []},
 "features": {"operations": ["get"], "shapes": ["object"], "integers": ["number"],
  "statements": ["prepared"], "transactions": ["none"]}}"""


@pytest.fixture(autouse=True)
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))


def make(tmp_path: Path, code: str, **changes: Any) -> Catalog:
    script = tmp_path / "runner" / "main.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(code, "utf-8")
    spec = RunnerSpec.model_validate(
        {
            "name": "x",
            "title": "X",
            "runtime": "R",
            "driver": "d",
            "tool": "python",
            "command": ["{python}", "-I", "-S", str(script)],
            **changes,
        }
    )
    return definitions.load().model_copy(
        update={"runners": {"x": spec}, "folders": {"x": script.parent}}
    )


def install(known: Catalog) -> runners.Installed:
    (found,) = runners.discover(known, ["x"], TOOLS)
    return found


GOOD = f"print('''{DESCRIPTION}''')"


def test_a_described_runner_is_present(tmp_path: Path) -> None:
    found = install(make(tmp_path, GOOD))
    assert found.missing is None
    assert found.description
    assert found.description.sqlite.version == "3.50.0"
    assert found.planned().description == found.description


def test_a_runner_without_its_tool_is_missing_with_the_hint(tmp_path: Path) -> None:
    assert install(make(tmp_path, GOOD, tool="absent")).missing == "install it from its shop"
    unknown = install(make(tmp_path, GOOD, tool="other")).missing
    assert unknown == (
        "other is not set up; run ./just setup, or see docs/adding-a-runner.md "
        "for a tool that set-up does not know yet"
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "print('hello')",
            "(whole answer): Invalid JSON: expected value at line 1 column 1",
        ),
        (
            GOOD.replace('"contract": 2', '"contract": 3'),
            "contract: Input should be 1 or 2",
        ),
        (
            GOOD.replace('"version": "3.50.0"', '"version": 3'),
            "sqlite.version: Input should be a valid string",
        ),
    ],
)
def test_a_description_that_does_not_fit_is_told_with_its_place(
    tmp_path: Path, code: str, reason: str
) -> None:
    told = f"`describe` failed: its answer does not fit the contract: {reason}"
    assert install(make(tmp_path, code)).missing == told


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(4)", "exit code 4: no message"),
        ("raise SystemExit('no driver')", "exit code 1: no driver"),
    ],
)
def test_a_runner_that_fails_to_describe_is_missing(tmp_path: Path, code: str, reason: str) -> None:
    assert install(make(tmp_path, code)).missing == f"`describe` failed: {reason}"


def test_a_long_complaint_is_cut_at_a_line_and_kept_whole(tmp_path: Path) -> None:
    found = install(make(tmp_path, "raise SystemExit('\\n'.join(['why ' * 9] * 99))"))
    assert found.missing is not None
    first, *kept = found.missing.splitlines()
    told = re.fullmatch(
        r"`describe` failed: exit code 1: \(the end; all of it is in (\S+)\)", first
    )
    assert told is not None
    assert set(map(str.strip, kept)) == {("why " * 9).strip()}
    assert Path(told[1]).read_text("utf-8").count("\n") == 99


def test_a_description_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "DESCRIBE_TIMEOUT_S", 0.2)
    found = install(make(tmp_path, "import signal; signal.pause()"))
    assert found.missing == "`describe` failed: no answer in 0.2 s"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    found = install(make(tmp_path, GOOD, command=[str(tmp_path / "gone")]))
    assert found.missing == f"`describe` failed: {tmp_path / 'gone'}: No such file or directory"


def test_a_description_is_asked_for_again_when_the_runner_changed(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD)
    first = install(known)
    assert install(known).fingerprint == first.fingerprint
    changed = install(make(tmp_path, GOOD.replace("3.50.0", "3.51.0")))
    assert changed.fingerprint != first.fingerprint
    assert changed.description
    assert changed.description.sqlite.version == "3.51.0"


def test_a_fingerprint_covers_sources_elsewhere_and_the_environment(tmp_path: Path) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "loop.js").write_text("1", "utf-8")
    lock = tmp_path / "lock.json"
    lock.write_text("1", "utf-8")
    known = make(tmp_path, GOOD, sources=[".", "../core", "../lock.json"])
    seen = {install(known).fingerprint}
    (core / "loop.js").write_text("2", "utf-8")
    seen.add(install(known).fingerprint)
    lock.write_text("2", "utf-8")
    seen.add(install(known).fingerprint)
    (tmp_path / "runner/notes.md").write_text("x", "utf-8")
    seen.add(install(known).fingerprint)
    assert len(seen) == 3
    spec = known.runners["x"].model_copy(update={"environment": {"A": "b"}})
    seen.add(install(known.model_copy(update={"runners": {"x": spec}})).fingerprint)
    assert len(seen) == 4
    spec = known.runners["x"].model_copy(update={"engine": {"a": 1}})
    seen.add(install(known.model_copy(update={"runners": {"x": spec}})).fingerprint)
    assert len(seen) == 5


def test_where_a_clone_lies_does_not_hide_its_sources(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD, sources=["../tests/node_modules/core"])
    core = tmp_path / "tests/node_modules/core"
    for name in ("loop.js", "addon.node", "tests/t.js", "node_modules/m.js"):
        (core / name).parent.mkdir(parents=True, exist_ok=True)
        (core / name).write_text("1", "utf-8")
    seen = [install(known).fingerprint]
    for name in ("loop.js", "addon.node", "tests/t.js", "node_modules/m.js"):
        (core / name).write_text("2", "utf-8")
        seen.append(install(known).fingerprint)
    assert len(set(seen[:3])) == 3
    assert seen[2] == seen[3] == seen[4]


def test_a_broken_cached_description_is_asked_for_again(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD)
    found = install(known)
    kept = paths.cache("descriptions") / f"{found.fingerprint}.json"
    assert kept.exists()
    kept.write_text("{", "utf-8")
    assert install(known).description == found.description


def test_an_environment_may_name_a_tool_as_a_url(tmp_path: Path) -> None:
    package = tmp_path / "a b"
    tools = Tools({**TOOLS.paths, "package": str(package)}, {})
    spec = make(tmp_path, GOOD, environment={"FROM": "{package_url}/"}).runners["x"]
    assert runners.environment(spec, tools)["FROM"] == f"{package.as_uri()}/"
    assert "%20" in package.as_uri()


def test_another_build_of_a_package_is_another_runner_to_what_is_remembered(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD, environment={"FROM": "{package_url}/"})

    def fingerprint(package: str) -> str:
        tools = Tools({**TOOLS.paths, "package": str(tmp_path / package)}, {})
        return runners.discover(known, ["x"], tools)[0].fingerprint

    assert fingerprint("one") == fingerprint("one") != fingerprint("two")


def test_a_tool_that_only_the_user_has_is_missing_with_what_to_do(tmp_path: Path) -> None:
    found = install(make(tmp_path, GOOD, tool="given", without="give it with --build"))
    assert found.missing == "give it with --build"


def test_a_command_whose_second_tool_is_absent_is_missing(tmp_path: Path) -> None:
    found = install(make(tmp_path, GOOD, command=["{absent}", "{python}"]))
    assert found.missing == "install it from its shop"


def test_the_environment_is_scrubbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NODE_OPTIONS", "PYTHONPATH", "LD_PRELOAD", "LC_ALL", "SQLITMUS_ROOT"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    spec = make(tmp_path, GOOD, environment={"DENO_NO_UPDATE_CHECK": "1"}).runners["x"]
    seen = runners.environment(spec, TOOLS)
    assert set(seen) <= {
        *("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "DOTNET_ROOT", "USERPROFILE"),
        *("LANG", "DENO_NO_UPDATE_CHECK"),
    }
    assert (seen["LANG"], seen["HOME"]) == ("C.UTF-8", str(tmp_path))


def test_a_runner_of_ones_own_replaces_one_of_its_name_and_starts_from_its_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine").mkdir()
    own = {"name": "node", "title": "", "runtime": "", "driver": "", "tool": "python"}
    lines = [f'{key} = "{value}"' for key, value in own.items()]
    text = "\n".join(["[[runner]]", *lines, 'command = ["{runners}/mine/start"]'])
    (tmp_path / "mine/runner.toml").write_text(text, "utf-8")
    known = definitions.read(paths.SCENARIOS, paths.FIXTURES, tmp_path, paths.RUNNERS)
    assert known.runners.keys() == definitions.load().runners.keys()
    (found,) = runners.discover(known, ["node"], TOOLS)
    assert found.command == [f"{tmp_path}/mine/start"]


def test_commands_are_filled_in() -> None:
    given = ["{python}", "{python_dir}/x", "{runners}/y", "--a"]
    folder = str(Path(sys.executable).parent)
    assert runners.expand(given, TOOLS) == [
        sys.executable,
        f"{folder}/x",
        f"{paths.RUNNERS}/y",
        "--a",
    ]


@pytest.mark.parametrize("argument", ["{pyhton}", "{", "{0}"])
def test_a_command_that_cannot_be_filled_in_is_told(argument: str) -> None:
    with pytest.raises(UsageError, match=r"cannot fill in .*; expected one of {python}"):
        runners.expand([argument], TOOLS)
