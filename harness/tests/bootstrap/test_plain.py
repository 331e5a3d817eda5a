"""The plain programs: made for `bench-truth` alone, from their own sources."""

from typing import TYPE_CHECKING

from bootstrap.context import Settings
from bootstrap.main import needs
from bootstrap.plain_steps import PLAIN
from bootstrap.step import look

if TYPE_CHECKING:
    from tests.bootstrap.conftest import Bench

RUST, DOTNET = PLAIN
CARGO = """
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


def clone(bench: "Bench") -> None:
    for name in ("rust/Cargo.toml", "plain/rust/Cargo.toml", "plain/rust/src/main.rs"):
        bench.write(f"runners/{name}")
    for name in ("sqlitmus-dotnet.csproj", "Directory.Build.props"):
        bench.write(f"runners/dotnet/{name}")
    bench.write("runners/plain/dotnet/Program.cs")
    fakes = {"cargo": CARGO, "cc": "", "rustc": "echo rustc 1", "dotnet": SDK}
    for name, script in fakes.items():
        bench.tool(name, script)
    for tool in ("mkdir", "sh"):
        bench.tool(tool, f'exec /bin/{tool} "$@"')


def test_only_the_yardstick_needs_them() -> None:
    settings, names = Settings.load(), {step.name for step in PLAIN}
    asking = {recipe for recipe in settings.recipes if needs([recipe], settings) & names}
    assert asking == {"bench-truth"}
    assert needs(["bench-truth"], settings) >= {*names, "rust", "dotnet", "npm", "hyperfine"}


def test_they_are_made_of_their_own_sources(bench: "Bench") -> None:
    clone(bench)
    states = bench.ensure(*PLAIN)
    rust, dotnet = (states[step.name].path(step.name) for step in PLAIN)
    assert rust is not None, bench.said.getvalue()
    assert dotnet is not None, bench.said.getvalue()
    assert rust.read_text("utf-8") == "plain/rust cargo\n"
    assert dotnet.read_text("utf-8") == "plain/dotnet/sqlitmus-plain-dotnet.csproj\n"


def test_they_are_made_again_when_those_change_and_not_when_a_runner_does(bench: "Bench") -> None:
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
