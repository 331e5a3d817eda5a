"""The catalogue: the clone's own TOML loads, and a fault is told with file and place."""

import re
import shutil
from pathlib import Path

import pytest

from sqlitmus.catalog import definitions
from sqlitmus.catalog.cases import MINIMUM_BLOCKS
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import PRAGMAS_READ_BACK
from sqlitmus.vocabulary.errors import UsageError

KNOWN = definitions.load()
AXES = {
    *("profile", "transaction", "shape", "integers", "statement", "rows", "workers", "value"),
    *("query", "limit", "threading", "inside", "design", "total", "processes", "access", "option"),
    *("text", "encoding", "begin", "busy", "connection", "nulls", "values", "many", "mmap"),
    *("cache", "store", "from", "mix", "checkpoint", "way", "thread", "texts"),
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
        *("commit", "transfer", "writers", "json", "blobs"),
        *("service-mixed", "service-writers", "service-checkpoint", "service-bulk"),
        *("service-open", "service-memory", "service-event-loop"),
        "service-tenants",
    } == set(KNOWN.scenarios)
    single = {s.role: name for name, s in KNOWN.runners.items() if s.role in ("oracle", "floor")}
    assert single == {"oracle": "python", "floor": "rust-ffi"}


def test_a_variant_is_another_build_of_a_runner() -> None:
    of_role = {True: set[tuple[str, ...]](), False: set[tuple[str, ...]]()}
    for spec in KNOWN.runners.values():
        of_role[spec.role == "variant"].add((spec.runtime, spec.driver, *spec.sources))
    assert of_role[True]
    assert of_role[True] <= of_role[False]


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
                file = Path(argument.replace("{runners}", str(paths.RUNNERS)))
                assert file.exists(), f"{name}: {argument}"


def test_what_javascript_runners_share_is_part_of_their_fingerprint() -> None:
    core = paths.RUNNERS / "javascript"
    for name, spec in KNOWN.runners.items():
        if spec.tool in ("node", "bun", "deno"):
            sources = {(KNOWN.folders[name] / source).resolve() for source in spec.sources}
            assert sources & {core.resolve(), *core.resolve().parents}, (
                f"{name}: `sources` leaves out {core.name}: a change there keeps old answers"
            )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the clone's scenarios, fixtures and runner.toml files."""
    shutil.copytree(paths.SCENARIOS, tmp_path / "scenarios")
    shutil.copytree(paths.FIXTURES, tmp_path / "fixtures")
    for file in paths.RUNNERS.glob("*/runner.toml"):
        target = tmp_path / "runners" / file.parent.name
        target.mkdir(parents=True)
        shutil.copy(file, target)
    return tmp_path


def read(folder: Path) -> Catalog:
    return definitions.read(folder / "scenarios", folder / "fixtures", folder / "runners")


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
    with pytest.raises(UsageError) as told:
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
        ("suites.toml", 'shape = ["array", "typed"]', 'shape = "array"', "expected a list of some"),
        (
            "suites.toml",
            '"hour"',
            '"houre"',
            "there is no mode houre; expected advise, claims,",
        ),
        ("modes.toml", "blocks = 1\n", "blocks = 0\n", "smoke.blocks: Input should be greater"),
        ("modes.toml", "[250, 400]", "[400, 60]", "quick.warmup_ms: Value error, expected [least"),
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
    with pytest.raises(UsageError) as told:
        read(copy)
    assert message in str(told.value)
    assert str(copy / "scenarios") in str(told.value)


def test_a_file_that_is_no_text_or_cannot_be_read_is_told(copy: Path) -> None:
    (copy / "scenarios/extra.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"extra\.toml: not UTF-8: invalid start byte at byte 0"):
        read(copy)
    (copy / "scenarios/extra.toml").unlink()
    (copy / "scenarios/suites.toml").unlink()
    (copy / "scenarios/suites.toml").mkdir()
    with pytest.raises(UsageError, match=r"suites\.toml: cannot be read: Is a directory"):
        read(copy)


def test_a_runner_of_the_same_name_twice_is_told(copy: Path) -> None:
    shutil.copytree(copy / "runners/node", copy / "runners/node2")
    with pytest.raises(UsageError, match=r"node2/runner\.toml: runner node is defined twice"):
        read(copy)


def test_a_fault_in_a_runner_is_told_with_its_place(copy: Path) -> None:
    file = copy / "runners/node/runner.toml"
    file.write_text(file.read_text("utf-8").replace("tool =", "tol =", 1), "utf-8")
    with pytest.raises(UsageError) as told:
        read(copy)
    assert f"{file}: runner[0].tool: Field required" in str(told.value)
    assert f"{file}: runner[0].tol: Extra inputs are not permitted" in str(told.value)
