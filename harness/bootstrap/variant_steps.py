"""The Rust runners with other builds of SQLite, compiled only when a recipe asks for them."""

from collections.abc import Mapping
from pathlib import Path

from bootstrap.built_steps import RUST, install_rust
from bootstrap.commands import Commands
from bootstrap.context import Context
from bootstrap.probe import probe
from bootstrap.step import Entry, Step

# how SQLite is compiled, besides what libsqlite3-sys says
VARIANTS = {
    "rust-threadsafe2": "-USQLITE_THREADSAFE -DSQLITE_THREADSAFE=2",
    "rust-no-overflow-stats": "-DSQLITE_DISABLE_PAGECACHE_OVERFLOW_STATS",
    "rust-memory-management": "-DSQLITE_ENABLE_MEMORY_MANAGEMENT",
}
RECIPE = "setup-claims"


def _variant(name: str, flags: str) -> Step:
    def facts(context: Context) -> Mapping[str, str]:
        return {**RUST.facts(context), "flags": flags}

    def make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
        own = context.environ.get("LIBSQLITE3_FLAGS", "")
        environ = {"LIBSQLITE3_FLAGS": f"{own} {flags}".strip()}
        path = install_rust(context, folder, commands, name=name, environ=environ)
        return {name: Entry(path)}

    title = f"compiling the Rust runner with {flags.rsplit(maxsplit=1)[-1].removeprefix('-D')}"
    return Step(name, title, RUST.blocker, facts, make, tools=(name,), recipe=RECIPE)


def _system_version(context: Context) -> str | None:
    asked = ("pkg-config", "--modversion", "sqlite3")
    found = probe(context, asked, cwd=context.clone, watch=(), variables=("PKG_CONFIG_PATH",))
    return found.strip() if found else None


def _no_system(context: Context) -> str | None:
    reason = RUST.blocker(context)
    if reason is not None:
        return reason
    return None if _system_version(context) else context.hint("sqlite3")


def _system_facts(context: Context) -> Mapping[str, str]:
    return {**RUST.facts(context), "sqlite3": _system_version(context) or "unknown"}


def _make_system(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    name = "rust-system"
    options = ("--no-default-features",)  # without the SQLite that comes with the crate
    path = install_rust(context, folder, commands, name=name, options=options)
    return {name: Entry(path, _system_version(context))}


RUST_VARIANTS = tuple(_variant(name, flags) for name, flags in VARIANTS.items())
RUST_SYSTEM = Step(
    "rust-system",
    "compiling the Rust runner with the system's SQLite",
    _no_system,
    _system_facts,
    _make_system,
    tools=("rust-system",),
    recipe=RECIPE,
)
