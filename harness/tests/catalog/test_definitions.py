"""The catalogue: the clone's own TOML loads, and a fault is told with file and place."""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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

AXES = {
    *("profile", "transaction", "shape", "integers", "statement", "rows", "workers", "value"),
    *("query", "limit", "threading", "inside", "design", "total", "processes", "access", "option"),
    *("text", "encoding", "begin", "busy", "connection", "nulls", "values", "many", "mmap"),
    *("cache", "store", "from", "mix", "checkpoint", "way", "thread", "texts", "binding"),
    *("set", "pages", "columns", "table"),
}


def test_the_clones_catalogue_has_what_the_design_names() -> None:
    assert set(KNOWN.profiles) == {
        *("shipped", "normalised", "durable", "legacy", "mmap", "wal", "published-readers"),
        *("published-texts", "published-keys", "own-timeout"),
    }
    assert set(KNOWN.suites) == {"smoke", "quick", "service", "full"}
    assert {"users", "ledger"} <= set(KNOWN.fixtures)
    assert {
        *("startup-noop", "startup-first-row", "get-const", "get-pk", "get-pk-miss", "get-index"),
        *("all", "all-table", "iterate", "scan-pk-range", "scan-index-range", "scan-covering"),
        *("scan-full", "insert-autocommit", "insert-transaction", "insert-types", "upsert"),
        *("update-pk", "delete-pk", "read-modify-write", "prepare", "parallel-get-pk"),
        *("parallel-all", "parallel-scan-index", "foo-get", "foo-all", "foo-insert"),
        *("foo-in-transaction", "key", "key-table", "icons", "threads", "texts"),
        *("people-process", "events-window", "writer-and-readers", "all-nullable"),
        *("mapped-get", "small-get", "small-all", "small-iterate", "bulk-insert", "insert-tuples"),
        *("commit", "transfer", "transfer-alone", "transfer-savepoints", "json", "blobs"),
        *("northwind", "columns", "foo-first"),
        *("service-mixed", "service-writers", "service-checkpoint", "service-bulk"),
        *("service-open", "service-memory", "service-event-loop"),
        "service-tenants",
    } == set(KNOWN.scenarios)
    single = {s.role: name for name, s in KNOWN.runners.items() if s.role in ("oracle", "floor")}
    assert single == {"oracle": "python", "floor": "rust-ffi"}


def test_a_variant_is_another_build_of_a_runner_or_has_its_drivers_interface() -> None:
    of_role = {True: set[tuple[str, ...]](), False: set[tuple[str, ...]]()}
    for spec in KNOWN.runners.values():
        of_role[spec.role == "variant"].add((spec.runtime, spec.driver, *spec.sources))
    assert of_role[True]
    libsql = ("Node", "libsql", ".", "../javascript", "../libsql/package-lock.json")
    assert of_role[True] - of_role[False] == {libsql}


def test_each_scenario_says_what_it_asks_in_known_words() -> None:
    for name, spec in KNOWN.scenarios.items():
        assert "?" in spec.question, name
        assert set(spec.axes) <= AXES, name
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


WORK = "writes = true\nwarmup_operations = 1\ntimed_operations = 2\n"
EXTRA = """
[{name}]
title = "T"
question = "Q?"
group = "g"
bound_by = "driver"
unit = "u"
fixture = "users"
operations = 1
axes.profile = ["normalised"]
{more}
"""

FAULTS = [
    ("x = = 1", "not TOML: Invalid value (at line 2, column 5)"),
    ("x = 1", "x: Input should be a valid dictionary or instance of Scenario"),
    (EXTRA.format(name="get-pk", more=""), "scenario get-pk is defined twice; rename one"),
    (EXTRA.format(name="x", more="colour = 3"), "x.colour: Extra inputs are not permitted"),
    (
        EXTRA.format(name="x", more="").replace("operations = 1", 'operations = "many"'),
        "x.operations: Input should be a valid integer",
    ),
    (
        EXTRA.format(name="x", more="").replace('bound_by = "driver"', 'bound_by = "luck"'),
        "x.bound_by: Input should be 'runtime', 'driver', 'engine', 'io', 'locks' or 'mixed'",
    ),
    (
        EXTRA.format(name="x", more='[[x.steps]]\noperation = "take"\nsql = "SELECT 1"'),
        "x.steps[0].operation: Input should be 'get', 'all', 'iterate', 'run', 'prepare', 'open'",
    ),
    (
        EXTRA.format(name="x", more='[[x.steps]]\noperation = "get"\nsql = "SELECT {rows}"'),
        "x: Value error, steps[0].sql: 'rows' is not an axis of this; braces name an axis",
    ),
    (
        EXTRA.format(
            name="x",
            more='[[x.steps]]\noperation = "get"\nsql = "SELECT 1"\nonly = { value = "1" }',
        ),
        "x: Value error, steps[0].only: value is not an axis of this",
    ),
    (
        EXTRA.format(name="x", more='[[x.steps]]\noperation = "get"\nsql = "SELECT 1"\npool = 100'),
        "x.steps[0].pool: Value error, 100 is no power of two up to 16384",
    ),
    (
        EXTRA.format(name="x", more="axes.rows = []"),
        "x.axes.rows: List should have at least 1 item after validation, not 0",
    ),
    (
        EXTRA.format(name="x", more="writes = true"),
        "x: Value error, what writes needs warmup_operations and timed_operations, the work of a",
    ),
    (
        EXTRA.format(name="x", more=f"{WORK}reset = ['DELETE FROM users']"),
        "x: Value error, reset needs reset_every: after how many operations it comes",
    ),
    (
        EXTRA.format(name="x", more=WORK),
        "x: Value error, a scenario that writes needs a readback, which proves its writes",
    ),
    *(
        (
            EXTRA.format(name="x", more=more),
            "x: Value error, what writes (a step with operation run or execute, a writer, reset)",
        )
        for more in (
            '[[x.steps]]\noperation = "run"\nsql = "DELETE FROM users"',
            '[[x.steps]]\noperation = "execute"\nsql = "DELETE FROM users"',
            'reset = ["DELETE FROM users"]',
            "[x.writer]\noperations = 1\n[[x.writer.steps]]\noperation = 'run'\nsql = 'DELETE'",
        )
    ),
    (
        EXTRA.format(
            name="x",
            more='axes.o = ["a"]\nvariants.o.a.engine = { threading = "serialised" }',
        ),
        (
            "x.variants.o.a.engine: Value error, threading is serialized, multi-thread or "
            "single-thread, not 'serialised'; did you mean serialized?"
        ),
    ),
    (
        EXTRA.format(name="x", more='[[x.overrides]]\nwhen = { rows = "1" }\noperations = 1'),
        "x: Value error, override for rows=1, which is not on an axis",
    ),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_in_a_scenario_is_told_with_its_place(copy: Path, text: str, message: str) -> None:
    file = copy / "scenarios/extra.toml"
    file.write_text("\n" + text, "utf-8")
    with refused() as told:
        read(copy)
    # get.toml comes after extra.toml, so a name used twice is told of the later file.
    other = copy / "scenarios/get.toml"
    assert str(told.value).startswith((f"{file}: {message}", f"{other}: {message}"))


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
        (
            "suites.toml",
            '"hour"',
            '"houre"',
            "there is no mode houre; expected advise, claims,",
        ),
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
    with refused() as told:
        read(copy)
    assert message in str(told.value)
    assert str(copy / "scenarios") in str(told.value)


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
    with refused() as told:
        read(copy)
    assert f"{file}: runner[0].tool: Field required" in str(told.value)
    assert f"{file}: runner[0].tol: Extra inputs are not permitted" in str(told.value)


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


def test_each_key_and_item_has_its_line() -> None:
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
    }
    assert {place: lines.of(place) for place in expected} == expected


def test_what_is_not_written_has_the_line_of_what_it_is_missing_in() -> None:
    lines = Lines(TEXT)
    assert lines.of(("items", 1, "nothing", 3)) == 16
    assert lines.of(("nothing",)) == 1


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
