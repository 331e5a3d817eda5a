"""The Rust runners with other builds of SQLite, and that of sqlx: compiled only when a recipe asks
for them.
"""

from collections.abc import Mapping
from pathlib import Path

from bootstrap.built_steps import RUST, crate_facts, install_crate, install_rust
from bootstrap.commands import Commands
from bootstrap.context import Context
from bootstrap.probe import probe
from bootstrap.step import Entry, Step

# how SQLite is compiled, besides what libsqlite3-sys says
VARIANTS = {
    "rust-threadsafe2": "-USQLITE_THREADSAFE -DSQLITE_THREADSAFE=2",
    "rust-no-overflow-stats": "-DSQLITE_DISABLE_PAGECACHE_OVERFLOW_STATS",
    "rust-memory-management": "-DSQLITE_ENABLE_MEMORY_MANAGEMENT",
    "rust-threadsafe0": "-USQLITE_THREADSAFE -DSQLITE_THREADSAFE=0",
    # all of https://sqlite.org/compile.html#recommended_compile_time_options, but not
    # SQLITE_OMIT_AUTOINIT, for which each program has to call sqlite3_initialize()
    "rust-recommended": (
        "-USQLITE_THREADSAFE -DSQLITE_THREADSAFE=0 -DSQLITE_DQS=0 -DSQLITE_DEFAULT_MEMSTATUS=0 "
        "-DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS "
        "-DSQLITE_MAX_EXPR_DEPTH=0 -USQLITE_ENABLE_COLUMN_METADATA -DSQLITE_OMIT_DECLTYPE "
        "-DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_OMIT_SHARED_CACHE "
        "-DSQLITE_USE_ALLOCA -DSQLITE_STRICT_SUBTYPE=1"
    ),
}
RECIPE = "setup-claims"


def _variant(name: str, flags: str) -> Step:
    def facts(context: Context) -> Mapping[str, str]:
        return {**RUST.facts(context), "flags": flags}

    def make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
        own = context.environ.get("LIBSQLITE3_FLAGS", "")
        environ = {"LIBSQLITE3_FLAGS": f"{own} {flags}".strip()}
        options = ("--features=no-mutex",) if "-DSQLITE_THREADSAFE=0" in flags else ()
        path = install_rust(context, folder, commands, name=name, options=options, environ=environ)
        return {name: Entry(path)}

    title = f"compiling the Rust runner, variant {name.removeprefix('rust-')}"
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
    # without the SQLite that comes with the crate
    options = ("--no-default-features", "--features=rusqlite")
    path = install_rust(context, folder, commands, name=name, options=options)
    return {name: Entry(path, _system_version(context))}


def _sqlx(context: Context) -> Path:
    return context.clone / "runners" / "sqlx"


def _sqlx_facts(context: Context) -> Mapping[str, str]:
    # it is compiled with the contract's code of the other Rust runners
    return {**crate_facts(context, _sqlx(context)), "rust": RUST.facts(context)["sources"]}


def _make_sqlx(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    name, crate = "rust-sqlx", _sqlx(context)
    return {name: Entry(install_crate(context, crate, folder, commands, name, "sqlitmus-sqlx"))}


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
RUST_SQLX = Step(
    "rust-sqlx",
    "compiling the Rust runner of sqlx",
    RUST.blocker,
    _sqlx_facts,
    _make_sqlx,
    tools=("rust-sqlx",),
    recipe=RECIPE,
)
