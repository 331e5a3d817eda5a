"""What comes from npm, without running any install script: runtimes, drivers, and other tools."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from bootstrap.commands import Commands, StepError
from bootstrap.context import EXE, Context, platform_facts
from bootstrap.sources import tree_digest
from bootstrap.step import Entry, Step

FILES = ("package.json", "package-lock.json")
# npm installs of each family only the package for this system and CPU
RUNTIMES = {
    "node": f"node-*/bin/node{EXE}",
    "bun": f"@oven/bun-*/bin/bun{EXE}",
    "deno": f"@deno/*/deno{EXE}",
}
TOOLS = {
    "biome": f"@biomejs/cli-*/biome{EXE}",
    "pyright": "pyright/index.js",
    "axe": "axe-core/axe.min.js",
}
PEERS = {"mitata": "mitata/src/main.mjs", "tinybench": "tinybench/dist/index.js"}
# what `npm ci` and `npm install` are given: nothing that a package brings is run
INSTALL = ("--ignore-scripts", "--no-audit", "--no-fund", "--engine-strict=false")


def _step(
    name: str,
    title: str,
    source: str,
    wanted: Mapping[str, str],
    *,
    tools: tuple[str, ...] = (),
    recipe: str = "setup",
) -> Step:
    def blocker(context: Context) -> str | None:
        return None if context.find("npm") else context.hint("npm")

    def facts(context: Context) -> Mapping[str, str]:
        root = context.clone / source
        files = [root / file for file in FILES]
        return {"lock": tree_digest(root, files), **platform_facts()}

    def make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
        npm = context.find("npm")
        if npm is None:
            raise StepError(context.hint("npm"))
        for file in FILES:
            shutil.copyfile(context.clone / source / file, folder / file)
        log = context.logs / f"{name}.log"
        commands.run(log, [npm, "ci", *INSTALL], folder, context.environ)
        modules = folder / "node_modules"
        entries = {f"{name}-modules": Entry("node_modules")}
        for tool, pattern in wanted.items():
            found = sorted(modules.glob(pattern))
            if found:
                entries[tool] = _entry(folder, found[0])
        return entries

    return Step(name, title, blocker, facts, make, tools=tools, recipe=recipe)


def _entry(folder: Path, file: Path) -> Entry:
    package = next(up for up in (file, *file.parents) if (up / "package.json").is_file())
    version = json.loads((package / "package.json").read_text("utf-8")).get("version")
    return Entry(file.relative_to(folder).as_posix(), version)


NPM = _step(
    "npm",
    "installing node, bun, deno and better-sqlite3",
    "runners",
    RUNTIMES,
    tools=tuple(RUNTIMES),
)
NPM_DEV = _step(
    "npm-dev",
    "installing pyright, biome and axe",
    "tools",
    TOOLS,
    tools=("axe",),
    recipe="test",
)
NPM_LIBSQL = _step(
    "npm-libsql",
    "installing libsql",
    "runners/libsql",
    {"libsql": "libsql"},
    tools=("libsql",),
    recipe="setup-claims",
)
NPM_TURSO = _step(
    "npm-turso",
    "installing Turso",
    "runners/turso",
    {"turso": "@tursodatabase/database"},
    tools=("turso",),
    recipe="setup-claims",
)
NPM_PEERS = _step(
    "npm-peers",
    "installing mitata and tinybench",
    "runners/peers",
    PEERS,
    tools=tuple(PEERS),
    recipe="bench-peers",
)
