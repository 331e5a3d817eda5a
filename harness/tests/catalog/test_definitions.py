"""The catalogue: the clone's own TOML loads, and a fault is told with file and place."""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.catalog import definitions, runners
from sqlitmus.catalog.cases import MINIMUM_BLOCKS
from sqlitmus.catalog.choose import choose
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.catalog.toml import Lines, Place
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import PRAGMAS_READ_BACK
from sqlitmus.vocabulary.paths import Tools
from tests.known import KNOWN, ROOT, RUNNERS, read
from tests.refusals import refused


def test_the_clones_catalogue_has_what_the_design_names(snapshot: SnapshotAssertion) -> None:
    axes = {axis for spec in KNOWN.scenarios.values() for axis in spec.axes}
    kinds = {"axes": axes, "fixtures": KNOWN.fixtures, "profiles": KNOWN.profiles}
    kinds |= {"scenarios": KNOWN.scenarios, "suites": KNOWN.suites}
    assert {kind: sorted(names) for kind, names in kinds.items()} == snapshot
    single = {s.role: name for name, s in KNOWN.runners.items() if s.role in ("oracle", "floor")}
    assert single == {"oracle": "python", "floor": "rust-ffi"}


def test_a_variant_is_another_build_of_a_runner_or_has_its_drivers_interface() -> None:
    of_role = {True: set[tuple[str, ...]](), False: set[tuple[str, ...]]()}
    for spec in KNOWN.runners.values():
        of_role[spec.role == "variant"].add((spec.runtime, spec.driver, *spec.sources))
    assert of_role[True]
    of_node = {
        ("Node", name, ".", "../javascript", f"../{name}/package-lock.json")
        for name in ("libsql", "turso")
    }
    # sqlx has the Rust runner's code under it, and a crate of its own
    assert of_role[True] - of_role[False] == of_node | {("Rust", "sqlx", ".")}


def test_each_scenario_says_what_it_asks_in_known_words() -> None:
    for name, spec in KNOWN.scenarios.items():
        assert "?" in spec.question, name
        for step in spec.steps:
            bound = {"prepare": 0, "read-file": 1, "open-file": 1}.get(
                step.operation, step.sql.count("?")
            )
            given = len(step.parameters) * ("{tuples}" not in step.sql)
            assert given == bound, f"{name}: {step.sql}"
            assert set(step.only) <= set(spec.axes)


def test_processes_that_open_a_database_at_once_wait_for_each_other() -> None:
    """Those of one case, and those of a set: who opens a log meanwhile is told SQLITE_BUSY."""
    for name, profile in KNOWN.profiles.items():
        named = [pragma for pragma, _ in profile.pragmas]
        assert named[0] == "busy_timeout" if "busy_timeout" in named else True, name
    for name, spec in KNOWN.scenarios.items():
        for profile in spec.axes.get("profile", []) if "processes" in spec.axes else []:
            first, _ = KNOWN.profiles[profile].pragmas[0]
            assert first == "busy_timeout", f"{name}: {profile}"


def test_profiles_are_made_of_pragmas_that_are_read_back() -> None:
    for name, profile in KNOWN.profiles.items():
        for pragma, _ in profile.pragmas:
            assert pragma in PRAGMAS_READ_BACK, f"{name}: {pragma}"


def test_each_profile_says_what_becomes_of_foreign_keys() -> None:
    for name, profile in KNOWN.profiles.items():
        stated = "foreign_keys" in dict(profile.pragmas)
        assert stated or "foreign keys" in profile.summary, name


def test_quick_is_enough_for_verdicts() -> None:
    for suite in ("quick", "service", "full"):
        assert KNOWN.modes[KNOWN.suites[suite].mode].blocks >= MINIMUM_BLOCKS


def test_every_runner_starts_from_files_that_are_there() -> None:
    for name, spec in KNOWN.runners.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        for source in spec.sources:
            assert (KNOWN.folders[name] / source).exists(), f"{name}: sources: {source}"
        for argument in spec.command:
            if argument.startswith("{runners}"):
                file = Path(argument.replace("{runners}", str(RUNNERS)))
                assert file.exists(), f"{name}: {argument}"


def test_what_javascript_runners_share_is_part_of_their_fingerprint() -> None:
    core = RUNNERS / "javascript"
    for name, spec in KNOWN.runners.items():
        if spec.tool in ("node", "bun", "deno"):
            sources = {(KNOWN.folders[name] / source).resolve() for source in spec.sources}
            assert sources & {core.resolve(), *core.resolve().parents}, (
                f"{name}: `sources` leaves out {core.name}: a change there keeps old answers"
            )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the clone's scenarios, fixtures and runner.toml files."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    for file in RUNNERS.glob("*/runner.toml"):
        target = tmp_path / "runners" / file.parent.name
        target.mkdir(parents=True)
        shutil.copy(file, target)
    return tmp_path


FAULTS = tomllib.loads(Path(__file__).with_name("scenario_faults.toml").read_text("utf-8"))


def with_fault(fault: dict[str, Any]) -> str:
    """The text of a scenario with this fault."""
    right = "\n" + FAULTS["right"]
    changed = right.replace(*fault["swap"]) if "swap" in fault else right + fault.get("add", "")
    return fault.get("text", changed)


@pytest.mark.parametrize("fault", FAULTS["fault"], ids=lambda fault: fault["said"][:40])
def test_a_fault_in_a_scenario_is_told_with_its_place(copy: Path, fault: dict[str, Any]) -> None:
    (copy / "scenarios/extra.toml").write_text("\n" + with_fault(fault), "utf-8")
    # get.toml comes after extra.toml, so a name used twice is told of the later file.
    files = re.escape(str(copy / "scenarios")) + "/(extra|get).toml"
    with refused(f"^{files}: {re.escape(fault['said'])}"):
        read(copy)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("get.toml", 'fixture = "users"', 'fixture = "user"', "there is no fixture user; expected"),
        (
            *("published.toml", 'fixture = "blobs"', 'fixture = "users"'),
            "blobs: a step is read-file, and fixture users has no files; give it files = ",
        ),
        (
            *("service.toml", 'fixture = "tenants"', 'fixture = "users"'),
            "service-tenants: a step is open-file, and fixture users has no databases; give it ",
        ),
        ("scans.toml", '"normalised"', '"normal"', "there is no profile normal; expected"),
        ("suites.toml", '"get-const"', '"get-konst"', "there is no scenario get-konst; expected *"),
        ("suites.toml", '"durable"', '"durabel"', "'durabel'"),
        ("writes.toml", '"@a", "@b", "@c"', '"@a", ":a", "@c"', "by other words than a prefix"),
        ("writes.toml", '"@a", "@b", "@c"', '"@a", "@c"', "names: there are 3, for 4 ? in the"),
        ("writes.toml", '"@a", "@b", "@c"', '"@a", "b", "@c"', "String should match pattern"),
        ("writes.toml", 'names = ["@a",', '# ["@a",', "each step with parameters needs names"),
        ("writes.toml", '["positional", "named"]', '["place", "named"]', "axes.binding has other"),
        ("suites.toml", 'shape = ["array", "typed"]', 'shape = "array"', "expected a list of some"),
        ("suites.toml", '"hour"', '"houre"', "there is no mode houre; expected advise, claims,"),
        ("modes.toml", "blocks = 1\n", "blocks = 0\n", "smoke.blocks: Input should be greater"),
        ("modes.toml", "[100, 400]", "[400, 60]", "quick.warmup_ms: Value error, expected [least"),
        ("profiles.toml", "pragmas = []", "pragmas = [1]", "shipped.pragmas[0]: Input should be"),
    ],
)
def test_names_that_do_not_exist_are_told(
    copy: Path, file: str, old: str, new: str, message: str
) -> None:
    target = copy / "scenarios" / file
    text = target.read_text("utf-8")
    assert old in text
    target.write_text(text.replace(old, new, 1), "utf-8")
    with refused(f"^{re.escape(str(copy / 'scenarios'))}.*{re.escape(message)}"):
        read(copy)


def test_a_file_that_is_no_text_or_cannot_be_read_is_told(copy: Path) -> None:
    (copy / "scenarios/extra.toml").write_bytes(b"\xff\xfe")
    with refused(r"extra\.toml: not UTF-8: invalid start byte at byte 0"):
        read(copy)
    (copy / "scenarios/extra.toml").unlink()
    (copy / "scenarios/suites.toml").unlink()
    (copy / "scenarios/suites.toml").mkdir()
    with refused(r"suites\.toml: cannot be read: it is a folder; give"):
        read(copy)


def test_a_runner_of_the_same_name_twice_is_told(copy: Path) -> None:
    shutil.copytree(copy / "runners/node", copy / "runners/node2")
    with refused(r"node2/runner\.toml: runner node is defined twice"):
        read(copy)


def test_a_fault_in_a_runner_is_told_with_its_place(copy: Path) -> None:
    file = copy / "runners/node/runner.toml"
    file.write_text(file.read_text("utf-8").replace("tool =", "tol =", 1), "utf-8")
    at = rf"{re.escape(str(file))}: runner\[0\]"
    with refused(rf"{at}\.tool: Field required\n{at}\.tol: Extra inputs are not permitted"):
        read(copy)


TEXT = '''# a comment with "quotes" and [brackets]
a = "one # two"
b.c = 1.5
"d e" = """
  [no.table]
"""
f = [1,
  2, # two
  { g = 'x', h = [ "]" ] },
]

[table]
key = 2026-11-22T10:00:00Z
[[items]]
name = "first"
[[items]]
name = "second"
[items.inner]
deep = true
'''


def test_each_key_and_item_has_its_line_or_that_of_what_it_is_missing_in() -> None:
    lines = Lines(TEXT)
    expected: dict[Place, int] = {
        ("a",): 2,
        ("b", "c"): 3,
        ("d e",): 4,
        ("f", 0): 7,
        ("f", 1): 8,
        ("f", 2, "h", 0): 9,
        ("table", "key"): 13,
        ("items", 0): 14,
        ("items", 1, "name"): 17,
        ("items", 1, "inner", "deep"): 19,
        ("items", 1, "nothing", 3): 16,
        ("nothing",): 1,
    }
    assert {place: lines.of(place) for place in expected} == expected


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        parts = list(value.items())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    elif isinstance(value, list):
        parts = list(enumerate(value))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    else:
        yield place
        return
    for name, part in parts:  # pyright: ignore[reportUnknownVariableType]
        yield from _places(part, (*place, name))  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("folder", ["claims", "."])
def test_it_sees_every_value_that_tomllib_sees(folder: str) -> None:
    for file in sorted((ROOT / "scenarios" / folder).glob("*.toml")):
        text = file.read_text("utf-8")
        assert set(_places(tomllib.loads(text))) <= set(Lines(text).all), file.name


def chosen(suite: str, *names: str) -> set[str]:
    mode = KNOWN.modes[KNOWN.suites[suite].mode]
    _, cells = choose(KNOWN, suite, mode, ["get-pk"], list(names), [], None)
    return {name for of_case in cells.values() for name in of_case}


def test_variants_take_part_only_by_name() -> None:
    runners = KNOWN.runners
    variants = {name for name, spec in runners.items() if spec.role == "variant"}
    assert {"rust-threadsafe2", "rust-ffi-system"} <= variants
    for suite in ("quick", "full"):
        assert not chosen(suite) & variants
        assert chosen(suite) >= {"rust", "rust-ffi"}
    assert chosen("quick", "rust", "rust-threadsafe2") == {"rust", "rust-threadsafe2"}


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
    return KNOWN.model_copy(update={"runners": {"x": spec}, "folders": {"x": script.parent}})


def install(known: Catalog) -> runners.Installed:
    (found,) = runners.discover(known, ["x"], TOOLS)
    return found


GOOD = f"print('''{DESCRIPTION}''')"


def test_a_described_runner_is_present(tmp_path: Path) -> None:
    present = install(make(tmp_path, GOOD))
    assert present.missing is None
    assert present.description
    assert present.description.sqlite.version == "3.50.0"
    assert present.planned().description == present.description


UNKNOWN = "other is not set up; run ./just setup, or see docs/adding-a-runner.md"
FAILED = "`describe` failed: "
UNFIT = f"{FAILED}its answer does not fit the contract: "


@pytest.mark.parametrize(
    ("code", "changes", "reason"),
    [
        (GOOD, {"tool": "absent"}, "install it from its shop"),
        (GOOD, {"command": ["{absent}", "{python}"]}, "install it from its shop"),
        (GOOD, {"tool": "given", "without": "give it with --build"}, "give it with --build"),
        (
            *(GOOD, {"tool": "other"}),
            f"{UNKNOWN} for a tool that set-up does not know yet",
        ),
        (GOOD, {"command": ["/gone"]}, f"{FAILED}/gone: No such file or directory"),
        (
            *("print('hello')", {}),
            f"{UNFIT}(whole answer): Invalid JSON: expected value at line 1 column 1",
        ),
        (
            *(GOOD.replace('"contract": 2', '"contract": 3'), {}),
            f"{UNFIT}contract: Input should be 1 or 2",
        ),
        (
            *(GOOD.replace('"version": "3.50.0"', '"version": 3'), {}),
            f"{UNFIT}sqlite.version: Input should be a valid string",
        ),
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


def test_a_description_is_asked_for_again_when_the_runner_changed(tmp_path: Path) -> None:
    known = make(tmp_path, GOOD)
    first = install(known)
    assert install(known).fingerprint == first.fingerprint
    changed = install(make(tmp_path, GOOD.replace("3.50.0", "3.51.0")))
    assert changed.fingerprint != first.fingerprint
    assert changed.description
    assert changed.description.sqlite.version == "3.51.0"


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
    folder = str(Path(sys.executable).parent)
    assert runners.expand(given, TOOLS) == [
        sys.executable,
        f"{folder}/x",
        f"{RUNNERS}/y",
        "--a",
    ]


@pytest.mark.parametrize("argument", ["{pyhton}", "{", "{0}"])
def test_a_command_that_cannot_be_filled_in_is_told(argument: str) -> None:
    with refused(r"cannot fill in .*; expected one of {python}"):
        runners.expand([argument], TOOLS)
