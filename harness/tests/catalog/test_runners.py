"""Whether a runner is there: what it says of itself, its fingerprint, its environment."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import definitions, runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from tests.known import KNOWN, ROOT, RUNNERS, tools
from tests.refusals import refused

TOOLS = tools({"python": sys.executable}, {"absent": "install it from its shop"})
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
    return KNOWN.model_copy(update={"runners": {"x": spec}, "folders": {"x": script.parent}})


def install(known: Catalog) -> runners.Installed:
    (found,) = runners.discover(known, ["x"], TOOLS)
    return found


GOOD = f"print('''{DESCRIPTION}''')"


UNKNOWN = "other is not set up; run ./just setup, or see docs/adding-a-runner.md"
FAILED = "`describe` failed: "
INVALID = "Invalid JSON: expected value at line 1 column 1"
UNFIT = f"{FAILED}its answer does not fit the contract: "
OLD, MISTYPED = GOOD.replace(": 2,", ": 3,"), GOOD.replace('"3.50.0"', "3")


@pytest.mark.parametrize(
    ("code", "changes", "reason"),
    [
        (GOOD, {"tool": "absent"}, "install it from its shop"),
        (GOOD, {"command": ["{absent}", "{python}"]}, "install it from its shop"),
        (GOOD, {"tool": "given", "without": "give it with --build"}, "give it with --build"),
        (GOOD, {"tool": "other"}, f"{UNKNOWN} for a tool that set-up does not know yet"),
        (GOOD, {"command": ["/gone"]}, f"{FAILED}/gone: No such file or directory"),
        ("print('hello')", {}, f"{UNFIT}(whole answer): {INVALID}"),
        (OLD, {}, f"{UNFIT}contract: Input should be 1 or 2"),
        (MISTYPED, {}, f"{UNFIT}sqlite.version: Input should be a valid string"),
        ("raise SystemExit(4)", {}, f"{FAILED}exit code 4: no message"),
        ("raise SystemExit('no driver')", {}, f"{FAILED}exit code 1: no driver"),
    ],
)
def test_a_runner_that_cannot_run_is_missing_with_the_reason(
    tmp_path: Path, code: str, changes: dict[str, Any], reason: str
) -> None:
    assert install(make(tmp_path, code, **changes)).missing == reason


def test_a_description_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "DESCRIBE_TIMEOUT_S", 0.2)
    endless = make(tmp_path, "import signal; signal.pause()")
    assert install(endless).missing == f"{FAILED}no answer in 0.2 s"


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


def test_a_fingerprint_covers_sources_wherever_they_lie_and_the_environment(tmp_path: Path) -> None:
    core, lock = tmp_path / "tests/node_modules/core", tmp_path / "lock.json"
    known = make(tmp_path, GOOD, sources=[".", "../tests/node_modules/core", "../lock.json"])
    files = [lock, *(core / name for name in ("loop.js", "addon.node"))]
    others = [tmp_path / "runner/notes.md", core / "tests/t.js", core / "node_modules/m.js"]
    for file in (*files, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1", "utf-8")
    seen = [install(known).fingerprint]
    for file in files:
        file.write_text("2", "utf-8")
        seen.append(install(known).fingerprint)
    for changes in ({"environment": {"A": "b"}}, {"engine": {"a": 1}}):
        spec = known.runners["x"].model_copy(update=changes)
        changed = known.model_copy(update={"runners": {"x": spec}})
        seen.append(install(changed).fingerprint)
    assert len({*seen}) == len(seen)
    for file in others:
        file.write_text("2", "utf-8")
    assert install(known).fingerprint == seen[len(files)]


def test_a_description_is_kept_and_asked_for_again_where_it_is_broken(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD)
    found = install(known)
    assert found.missing is None
    assert found.description
    assert found.description.sqlite.version == "3.50.0"
    assert found.planned().description == found.description
    (kept,) = (tmp_path / "toolchain").rglob(f"{found.fingerprint}.json")
    kept.write_text(kept.read_text("utf-8").replace("3.50.0", "3.50.1"), "utf-8")
    again = install(known)
    assert (again.fingerprint, again.description != found.description) == (found.fingerprint, True)
    kept.write_text("{", "utf-8")
    assert install(known).description == found.description
    changed = install(make(tmp_path, GOOD.replace("3.50.0", "3.51.0")))
    assert changed.fingerprint != found.fingerprint
    assert changed.description
    assert changed.description.sqlite.version == "3.51.0"


def test_an_environment_names_a_tool_as_a_url_and_another_build_is_another_runner(
    tmp_path: Path,
) -> None:
    known = make(tmp_path, GOOD, environment={"FROM": "{package_url}/"})

    def of(package: str) -> tuple[str, str]:
        given = tools({**TOOLS.paths, "package": str(tmp_path / package)})
        (found,) = runners.discover(known, ["x"], given)
        return found.environment["FROM"], found.fingerprint

    assert of("a b")[0] == f"{(tmp_path / 'a b').as_uri()}/"
    assert of("one") == of("one")
    assert of("one")[1] != of("two")[1]


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
    known = definitions.read(ROOT / "scenarios", ROOT / "fixtures", tmp_path, RUNNERS)
    assert known.runners.keys() == KNOWN.runners.keys()
    (found,) = runners.discover(known, ["node"], TOOLS)
    assert found.command == [f"{tmp_path}/mine/start"]


def test_commands_are_filled_in() -> None:
    given = ["{python}", "{python_dir}/x", "{runners}/y", "--a"]
    folder = Path(sys.executable).parent
    filled = [sys.executable, f"{folder}/x", f"{RUNNERS}/y", "--a"]
    assert runners.expand(given, TOOLS) == filled
    for argument in ("{pyhton}", "{", "{0}"):
        with refused(r"cannot fill in .*; expected one of {python}"):
            runners.expand([argument], TOOLS)
