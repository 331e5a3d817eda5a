"""Other builds of SQLite: when they are made, with what, and what is said without them."""

from bootstrap.built_steps import RUST
from bootstrap.context import Settings
from bootstrap.main import needs
from bootstrap.paths import entry
from bootstrap.plain_steps import PLAIN
from bootstrap.step import look
from bootstrap.variant_steps import RUST_SQLX, RUST_SYSTEM, RUST_VARIANTS, VARIANTS
from sqlitmus.vocabulary.paths import NOT_YET
from tests.bootstrap.conftest import Bench

CARGO = """
while [ "$1" != --root ]; do shift; done
mkdir -p "$2/bin"
echo "$LIBSQLITE3_FLAGS; ${CARGO_TARGET_DIR##*/}; $3" > "$2/bin/sqlitmus-rust"
"""
ALL = {*VARIANTS, "rust-system", "rust-sqlx", "better-sqlite3"}


def crate(bench: Bench) -> None:
    bench.write("runners/rust/Cargo.toml", "[package]")
    bench.write("runners/rust/src/main.rs", "fn main() {}")
    bench.compilers(CARGO)


def test_only_claims_need_them() -> None:
    settings = Settings.load()
    asking = {recipe for recipe in settings.recipes if needs([recipe], settings) & ALL}
    assert asking == {"claims", "setup-claims"}
    assert needs(["claims"], settings) >= {*ALL, "rust"}


def test_a_claim_that_is_named_needs_its_own_builds_alone() -> None:
    settings = Settings.load()
    claims = ("threading", "options", "keys", "sqlx")

    def builds(*argv: str) -> set[str]:
        return needs(["claims", *argv], settings, claims) & ALL

    assert builds("--blocks", "12") == ALL
    assert builds("keys") == set()
    assert builds("keys", "-r", "rust", "threading") == {"better-sqlite3", "rust-threadsafe2"}
    others = {"better-sqlite3", "rust-threadsafe0", "rust-recommended", "rust-sqlx"}
    assert builds("options") == ALL - others
    assert builds("sqlx") == {"rust-sqlx"}
    assert needs(["claims", "keys"], settings, claims) >= {"npm", "rust", "hyperfine"}
    assert needs(["claims", "keys", "--list"], settings, claims) == {"python"}


def test_each_build_has_its_flags_and_its_work_folder(bench: Bench) -> None:
    crate(bench)
    states = bench.ensure(*RUST_VARIANTS)
    built = {name: state.path(name) for name, state in states.items()}
    assert {name: path and path.read_text("utf-8") for name, path in built.items()} == {
        name: f"{flags}; cargo-{name}; {'--features=no-mutex' * ('SAFE=0' in flags)}\n"
        for name, flags in VARIANTS.items()
    }
    plain = bench.ensure(RUST)["rust"].path("rust")
    assert plain
    assert plain.read_text("utf-8") == "; cargo; \n"


def test_the_systems_sqlite_is_missing_until_pkg_config_finds_it(bench: Bench) -> None:
    crate(bench)
    assert "pkg-config finds no sqlite3" in (look(RUST_SYSTEM, bench.context).missing or "")
    bench.tool("pkg-config", "exit 1")
    assert "pkg-config finds no sqlite3" in (look(RUST_SYSTEM, bench.context).missing or "")
    bench.tool("pkg-config", "echo 3.40.1")
    state = bench.ensure(RUST_SYSTEM)["rust-system"]
    path = state.path("rust-system")
    assert path
    assert path.read_text("utf-8") == "; cargo-rust-system; --no-default-features\n"
    assert entry({"rust-system": state}, "rust-system", "rust-system")["version"] == "3.40.1"


def test_a_driver_of_another_crate_is_made_again_when_the_contracts_code_changes(
    bench: Bench,
) -> None:
    crate(bench)
    bench.write("runners/sqlx/src/main.rs", "fn main() {}")
    first = look(RUST_SQLX, bench.context).folder
    bench.write("runners/rust/src/main.rs", "fn main() { }")
    second = look(RUST_SQLX, bench.context).folder
    bench.write("runners/sqlx/Cargo.lock", "another sqlx")
    assert len({first, second, look(RUST_SQLX, bench.context).folder}) == 3


def test_what_is_not_made_yet_names_the_recipe(bench: Bench) -> None:
    crate(bench)
    states = {step.name: look(step, bench.context) for step in (RUST, RUST_VARIANTS[0])}
    told = {name: entry(states, name, "any")["missing"] for name in states}
    assert told == {
        "rust": f"{NOT_YET}setup",
        "rust-threadsafe2": f"{NOT_YET}setup-claims",
    }


RUST_PLAIN, DOTNET = PLAIN
CARGO_PLAIN = """
while [ "$1" != --root ]; do shift; done
mkdir -p "$2/bin"
echo "${PWD##*/runners/} ${CARGO_TARGET_DIR##*/}" > "$2/bin/sqlitmus-plain"
"""
SDK = """
[ "$1" = --list-sdks ] && echo '10.0.401 [/usr/sdk]' && exit
project=$2
while [ "$1" != -o ]; do shift; done
echo "${project##*/runners/}" > "$2/sqlitmus-plain-dotnet"
"""


def clone(bench: Bench) -> None:
    for name in ("rust/Cargo.toml", "plain/rust/Cargo.toml", "plain/rust/src/main.rs"):
        bench.write(f"runners/{name}")
    for name in ("sqlitmus-dotnet.csproj", "Directory.Build.props"):
        bench.write(f"runners/dotnet/{name}")
    bench.write("runners/plain/dotnet/Program.cs")
    bench.compilers(CARGO_PLAIN)
    bench.tool("dotnet", SDK)


def test_only_the_yardstick_needs_them() -> None:
    settings, names = Settings.load(), {step.name for step in PLAIN}
    asking = {recipe for recipe in settings.recipes if needs([recipe], settings) & names}
    assert asking == {"bench-truth"}
    assert needs(["bench-truth"], settings) >= {*names, "rust", "dotnet", "npm", "hyperfine"}


def test_only_the_comparison_needs_the_peers() -> None:
    settings = Settings.load()
    asking = {recipe for recipe in settings.recipes if "npm-peers" in needs([recipe], settings)}
    assert asking == {"bench-peers"}


def test_they_are_made_of_their_own_sources(bench: Bench) -> None:
    clone(bench)
    states = bench.ensure(*PLAIN)
    rust, dotnet = (states[step.name].path(step.name) for step in PLAIN)
    assert rust is not None, bench.said.getvalue()
    assert dotnet is not None, bench.said.getvalue()
    assert rust.read_text("utf-8") == "plain/rust cargo\n"
    assert dotnet.read_text("utf-8") == "plain/dotnet/sqlitmus-plain-dotnet.csproj\n"


def test_they_are_made_again_when_those_change_and_not_when_a_runner_does(bench: Bench) -> None:
    clone(bench)

    def folders() -> list[object]:
        return [look(step, bench.context).folder for step in PLAIN]

    first = folders()
    bench.write("runners/rust/src/main.rs", "fn main() {}")
    bench.write("runners/dotnet/src/Program.cs", "return;")
    assert folders() == first
    bench.write("runners/plain/rust/src/main.rs", "fn main() {}")
    bench.write("runners/plain/dotnet/Program.cs", "return;")
    second = folders()
    assert not {*first} & {*second}
    bench.write("runners/dotnet/Directory.Build.props", "<Project />")
    assert folders()[0] == second[0]
    assert folders()[1] != second[1]
