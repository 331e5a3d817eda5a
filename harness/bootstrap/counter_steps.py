"""What is compiled to count syncs: a library that is preloaded into runners that are not timed."""

import sys
from collections.abc import Mapping
from pathlib import Path

from bootstrap.commands import Commands
from bootstrap.context import Context, platform_facts
from bootstrap.sources import tree_digest
from bootstrap.step import Entry, Step

SOURCE = "harness/counter/syncs.c"
OPTIONS = ("-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")


def compiler(context: Context) -> list[str] | None:
    """The words that start the C compiler: those of `$CC`, or the first that is on PATH."""
    chosen = context.environ.get("CC", "").split()
    if chosen and context.find(chosen[0]):
        return chosen
    return next(([name] for name in ("cc", "gcc", "clang") if context.find(name)), None)


def blocker(context: Context) -> str | None:
    """Why syncs cannot be counted here, or None."""
    if not (context.clone / SOURCE).is_file():
        return f"{SOURCE} is not in this clone"
    if not sys.platform.startswith("linux"):
        return context.hint("sync-counter")
    return None if compiler(context) else context.hint("cc")


def _facts(context: Context) -> Mapping[str, str]:
    source = context.clone / SOURCE
    words = " ".join(compiler(context) or [])
    options = " ".join(OPTIONS)
    sources = tree_digest(source.parent, [source])
    return {"sources": sources, "compiler": words, "options": options, **platform_facts()}


def _make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    words = compiler(context) or []
    # an older C library has dlsym in one of its own
    build = [*words, *OPTIONS, "-o", folder / "syncs.so", context.clone / SOURCE, "-ldl"]
    commands.run(context.logs / "sync-counter.log", build, folder, context.environ)
    return {"sync-counter": Entry("syncs.so")}


SYNC_COUNTER = Step(
    "sync-counter",
    "compiling what counts syncs",
    blocker,
    _facts,
    _make,
    tools=("sync-counter",),
)
