"""better-sqlite3 compiled twice from the installed package: serialized, and multi-thread."""

import ast
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bootstrap.commands import Commands, StepError
from bootstrap.context import Context
from bootstrap.counter_steps import compiler
from bootstrap.npm_steps import NPM
from bootstrap.step import Entry, Step, look

NAME = "better-sqlite3"
BUILDS = {"better-sqlite3-threadsafe1": "1", "better-sqlite3-threadsafe2": "2"}
# As the package's binding.gyp has it, but for link-time optimisation: both builds share the addon.
# Without NDEBUG, better-sqlite3 asserts that a connection has no mutex.
COMMON = ("-O3", "-fPIC", "-w", "-DNDEBUG")
ADDON = (
    *("-std=c++20", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
    *("-DNAPI_VERSION=10", "-DNAPI_DISABLE_CPP_EXCEPTIONS"),
    *("-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS", "-DBUILDING_NODE_EXTENSION"),
)
LINK = ("-shared", "-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL")


def _cxx(context: Context) -> list[str] | None:
    """The words that start the C++ compiler: those of `$CXX`, or the first that is on PATH."""
    chosen = context.environ.get("CXX", "").split()
    if chosen and context.find(chosen[0]):
        return chosen
    return next(([name] for name in ("c++", "g++", "clang++") if context.find(name)), None)


def _blocker(context: Context) -> str | None:
    if not sys.platform.startswith("linux"):
        return context.hint(NAME)
    if reason := NPM.blocker(context):
        return reason
    return None if compiler(context) and _cxx(context) else context.hint("cc")


def _facts(context: Context) -> Mapping[str, str]:
    options = [*COMMON, *ADDON, *LINK, *BUILDS.values()]
    compilers = [*(compiler(context) or []), *(_cxx(context) or [])]
    return {
        **NPM.facts(context),
        "options": " ".join(options),
        "compilers": " ".join(compilers),
    }


def _make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    modules = look(NPM, context).path("npm-modules")
    if modules is None:
        raise StepError("its sources are not there, since npm is not set up")
    package, log = modules / NAME, context.logs / f"{NAME}.log"
    headers = next(iter(sorted(modules.glob("node-*/include/node"))), None)
    if headers is None:
        raise StepError("no package for this platform provides Node's headers")
    sqlite = package / "deps" / "sqlite3"
    includes = [f"-I{path}" for path in (headers, modules / "node-addon-api", sqlite)]
    defines = _defines((package / "deps" / "defines.gypi").read_text("utf-8"))
    cc, cxx = compiler(context) or [], _cxx(context) or []
    jobs: list[list[str | Path]] = [
        [
            *(*cc, *COMMON, "-std=c99", *defines, f"-DSQLITE_THREADSAFE={mode}"),
            *("-c", sqlite / "sqlite3.c", "-o", f"sqlite3-{mode}.o"),
        ]
        for mode in BUILDS.values()
    ]
    source = package / "src" / "better_sqlite3.cpp"
    jobs.append([*cxx, *COMMON, *ADDON, *includes, "-c", source, "-o", "addon.o"])

    def run(words: Sequence[str | Path]) -> None:
        commands.run(log, words, folder, context.environ)

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(run, jobs))
    entries: dict[str, Entry] = {}
    for name, mode in BUILDS.items():
        # below a node_modules, or Deno would take the package's CommonJS for modules
        made = folder / name / "node_modules" / NAME
        binding = made / "build" / "Release" / "better_sqlite3.node"
        binding.parent.mkdir(parents=True)
        shutil.copytree(package / "lib", made / "lib")
        shutil.copyfile(package / "package.json", made / "package.json")
        run([*cxx, *LINK, "-o", binding, "addon.o", f"sqlite3-{mode}.o", "-ldl"])
        entries[name] = Entry(made.relative_to(folder).as_posix())
    for made in folder.glob("*.o"):
        made.unlink()
    return entries


def _defines(gypi: str) -> list[str]:
    """The package's own options of SQLite but for the threading mode, which is what varies."""
    text = re.sub(r"^\s*#.*", "", gypi, flags=re.MULTILINE)
    names: list[str] = ast.literal_eval(text.strip())["defines"]
    return [f"-D{name}" for name in names if not name.startswith("SQLITE_THREADSAFE=")]


BETTER_SQLITE3 = Step(
    NAME,
    "compiling better-sqlite3 with and without mutexes, which takes two to four minutes",
    _blocker,
    _facts,
    _make,
    tools=tuple(BUILDS),
    recipe="setup-claims",
    after=("npm",),
)
