"""What is compiled here: hyperfine, the Rust runner and the .NET runner."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bootstrap.commands import Commands, StepError
from bootstrap.context import EXE, WINDOWS, Context, platform_facts
from bootstrap.probe import probe
from bootstrap.sources import tree_digest
from bootstrap.step import Entry, Step

# variables that change what these compilers make
RUST_VARIABLES = ("RUSTFLAGS", "CC", "CFLAGS", "LIBSQLITE3_FLAGS")
CRATE_FILES = {"Cargo.toml", "Cargo.lock", "build.rs", "lock.rs", "rust-toolchain.toml"}
DOTNET_VARIABLES = ("MicrosoftDataSqliteVersion", "SQLitePCLRawVersion")
DOTNET_SOURCES = {".cs", ".csproj", ".props", ".targets", ".json", ".config"}
DOTNET_NOT_BUILT = {"bin", "obj", "tests"}


def cargo_target(context: Context, name: str) -> Path:
    """Cargo's work folder for a build, shared by clones so that dependencies compile once."""
    return context.toolchain / "work" / ("cargo" if name == "rust" else f"cargo-{name}")


def dotnet_artifacts(context: Context) -> Path:
    """MSBuild's work folder, one for each clone since its files name absolute paths."""
    clone = hashlib.sha256(str(context.clone).encode()).hexdigest()[:16]
    return context.toolchain / "work" / f"dotnet-{clone}"


def rust_version(context: Context, folder: Path) -> str | None:
    """What `rustc --version` says in `folder`, whose toolchain file may choose a compiler."""
    home = Path(context.environ.get("HOME") or context.environ.get("USERPROFILE") or "~")
    rustup = Path(context.environ.get("RUSTUP_HOME") or home / ".rustup")
    watch = [rustup / "settings.toml", rustup / "update-hashes", folder / "rust-toolchain.toml"]
    found = probe(
        context, ("rustc", "--version"), cwd=folder, watch=watch, variables=("RUSTUP_TOOLCHAIN",)
    )
    return found.strip() if found else None


def dotnet_version(context: Context) -> str | None:
    """The newest .NET SDK 10 that `dotnet` knows, or None."""
    tool = context.find("dotnet")
    if tool is None:
        return None
    listed = probe(
        context,
        ("dotnet", "--list-sdks"),
        cwd=context.clone,
        watch=[tool.resolve().parent / "sdk"],
        variables=("DOTNET_ROOT",),
    )
    found = re.findall(r"^10\.\d+\.\d+\S*", listed or "", re.MULTILINE)
    return found[-1] if found else None


def _no_cargo(context: Context) -> str | None:
    return None if context.find("cargo") else context.hint("cargo")


def _no_rust(context: Context) -> str | None:
    if not (context.clone / "runners/rust/Cargo.toml").is_file():
        return "runners/rust is not in this clone"
    reason = _no_cargo(context)
    if reason is not None or WINDOWS:  # there cargo finds the compiler by itself
        return reason
    chosen = context.environ.get("CC", "").split()[:1]
    found = any(context.find(name) for name in (*chosen, "cc", "gcc", "clang"))
    return None if found else context.hint("cc")


def _systems_hyperfine(context: Context) -> tuple[Path, str] | None:
    """The hyperfine on PATH and its version, where its exports are those of the version that is
    otherwise compiled: versions that differ in their last number alone."""
    found = context.find("hyperfine")
    told = probe(context, ("hyperfine", "--version"), cwd=context.clone, watch=(), variables=())
    version = (told or "").strip().removeprefix("hyperfine ")
    wanted = context.settings.versions["hyperfine"]
    fits = version.split(".")[:2] == wanted.split(".")[:2]
    return (found, version) if found and fits else None


def _no_hyperfine(context: Context) -> str | None:
    return None if _systems_hyperfine(context) else _no_cargo(context)


def _hyperfine_facts(context: Context) -> Mapping[str, str]:
    if systems := _systems_hyperfine(context):
        path, version = systems
        return {"system": str(path), "version": version}
    return {"version": context.settings.versions["hyperfine"], **platform_facts()}


def _make_hyperfine(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    if systems := _systems_hyperfine(context):
        path, version = systems
        return {"hyperfine": Entry(str(path), version)}
    version = context.settings.versions["hyperfine"]
    install = ["cargo", "install", "--locked", "hyperfine", "--version", version, "--root", folder]
    # nobody waits for hyperfine but its compiler: it starts a process, and sleeps
    profile = {"LTO": "off", "CODEGEN_UNITS": "16", "OPT_LEVEL": "1"}
    environ = {f"CARGO_PROFILE_RELEASE_{name}": value for name, value in profile.items()}
    commands.run(
        context.logs / "hyperfine.log", install, context.clone, {**context.environ, **environ}
    )
    return {"hyperfine": Entry(f"bin/hyperfine{EXE}", version)}


def _rust_facts(context: Context) -> Mapping[str, str]:
    return crate_facts(context, context.clone / "runners" / "rust")


def crate_facts(context: Context, crate: Path) -> Mapping[str, str]:
    """All that decides what compiling the crate in that folder makes."""
    files = [path for path in crate.glob("*") if path.name in CRATE_FILES]
    files += [path for path in (crate / "src").rglob("*") if path.is_file()]
    config = [path for path in (crate / ".cargo").glob("*") if path.is_file()]
    return {
        "sources": tree_digest(crate, files + config),
        "rustc": rust_version(context, crate) or "unknown",
        **{name: context.environ.get(name, "") for name in RUST_VARIABLES},
        **platform_facts(),
    }


def install_rust(
    context: Context,
    folder: Path,
    commands: Commands,
    *,
    name: str,
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> str:
    """Compile the runner of build `name` into `folder`; the binary's path in it."""
    crate = context.clone / "runners" / "rust"
    return install_crate(
        context, crate, folder, commands, name, "sqlitmus-rust", options=options, environ=environ
    )


def install_crate(
    context: Context,
    crate: Path,
    folder: Path,
    commands: Commands,
    name: str,
    binary: str,
    *,
    target: str = "",
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> str:
    """Compile the crate into `folder`, in the work folder of the build `target`, or else of `name`;
    the path of its binary in it."""
    work, log = cargo_target(context, target or name), context.logs / f"{name}.log"
    environ = {**context.environ, "CARGO_TARGET_DIR": str(work), **(environ or {})}
    environ.pop("CARGO_BUILD_TARGET", None)  # what is made is for this machine
    # install, not build: it also puts the hand-written comparison beside the runner
    install = ["cargo", "install", "--path", ".", "--locked", "--no-track", "--root", folder]
    commands.run(log, [*install, *options], crate, environ)
    path = f"bin/{binary}{EXE}"
    if not (folder / path).is_file():
        raise StepError(f"cargo install made no {path}; the crate must have a binary of that name")
    return path


def _make_rust(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    return {"rust": Entry(install_rust(context, folder, commands, name="rust"))}


def _no_dotnet(context: Context) -> str | None:
    if _project(context) is None:
        return "runners/dotnet is not in this clone"
    return None if dotnet_version(context) else context.hint("dotnet")


def _project(context: Context) -> Path | None:
    found = sorted((context.clone / "runners" / "dotnet").glob("*.csproj"))
    return found[0] if found else None


def _dotnet_sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in DOTNET_NOT_BUILT:
                yield from _dotnet_sources(path)
        elif path.suffix in DOTNET_SOURCES:
            yield path


def _dotnet_facts(context: Context) -> Mapping[str, str]:
    root = context.clone / "runners" / "dotnet"
    return project_facts(context, root, _dotnet_sources(root))


def project_facts(context: Context, root: Path, sources: Iterable[Path]) -> Mapping[str, str]:
    """All that decides what publishing a .NET project of those sources makes."""
    return {
        "sources": tree_digest(root, sources),
        "sdk": dotnet_version(context) or "unknown",
        **{name: context.environ.get(name, "") for name in DOTNET_VARIABLES},
        **platform_facts(),
    }


def _make_dotnet(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    project = _project(context)
    if project is None:
        raise StepError("runners/dotnet holds no project file")
    log = context.logs / "dotnet.log"
    return {"dotnet": Entry(publish(context, project, folder, commands, log, "sqlitmus-dotnet"))}


def publish(
    context: Context, project: Path, folder: Path, commands: Commands, log: Path, assembly: str
) -> str:
    """Publish the .NET project into `folder`; the name of its program in it."""
    words = [
        *("dotnet", "publish", project, "-c", "Release", "-o", folder),
        *("--artifacts-path", dotnet_artifacts(context), "--nologo", "-nodeReuse:false"),
    ]
    # a compiler server would outlive set-up
    environ = {**context.environ, "UseSharedCompilation": "false"}
    commands.run(log, words, project.parent, environ)
    name = f"{assembly}{EXE}"
    if not (folder / name).is_file():
        raise StepError(f"dotnet publish made no {name}; the assembly must have that name")
    return name


HYPERFINE = Step(
    "hyperfine",
    "compiling hyperfine",
    _no_hyperfine,
    _hyperfine_facts,
    _make_hyperfine,
    tools=("hyperfine",),
)
RUST = Step(
    "rust",
    "compiling the Rust runner and its SQLite",
    _no_rust,
    _rust_facts,
    _make_rust,
    tools=("rust",),
)
DOTNET = Step(
    "dotnet",
    "publishing the .NET runner",
    _no_dotnet,
    _dotnet_facts,
    _make_dotnet,
    tools=("dotnet",),
)
