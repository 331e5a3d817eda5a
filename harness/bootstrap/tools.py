"""The tools that checks call: where they are, or why they are missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bootstrap.built_steps import dotnet_version
from bootstrap.context import Context
from bootstrap.counter_steps import blocker as no_cc, compiler
from bootstrap.engine import log_of
from bootstrap.paths import entry
from bootstrap.step import look
from bootstrap.steps import ENTRIES, STEPS

# entries that only checks need -> (step, entry of the step)
OWN_ENTRIES = {
    "python": ("python-dev", "python-dev"),
    "zizmor": ("python-dev", "zizmor"),
    "biome": ("npm-dev", "biome"),
    "pyright": ("npm-dev", "pyright"),
    "actionlint": ("actionlint", "actionlint"),
}


def tools(context: Context) -> dict[str, dict[str, str]]:
    """Every `{tool}` of a command, as `{"path": ...}` or `{"missing": reason}`."""
    states = {name: look(step, context) for name, step in STEPS.items()}
    for name, state in states.items():
        # the recipe set it up before it came here
        if state.to_make and log_of(context, name).exists():
            reason = f"set-up failed; see {log_of(context, name)}"
            states[name] = replace(state, missing=reason)
    sources = {**ENTRIES, **OWN_ENTRIES}
    known = {name: entry(states, *source) for name, source in sources.items()}
    for name, tool, hint in (("cargo", "cargo", "cargo"), ("system-node", "node", "npm")):
        found = context.find(tool)
        known[name] = {"path": str(found)} if found else {"missing": context.hint(hint)}
    # pyright takes a third less time with it than with a Node of some years ago
    known["newest-node"] = known["node"] if "path" in known["node"] else known["system-node"]
    # what it compiles is for Linux alone
    hint = no_cc(context)
    cc = context.find((compiler(context) or [""])[0])
    known["cc"] = {"path": str(cc)} if cc and not hint else {"missing": hint or context.hint("cc")}
    dotnet = context.find("dotnet") if dotnet_version(context) else None
    known["dotnet"] = {"path": str(dotnet)} if dotnet else {"missing": context.hint("dotnet")}
    return known


def filled(
    command: Sequence[str], known: Mapping[str, Mapping[str, str]]
) -> tuple[list[str] | None, str]:
    """`command` with the paths of its tools, or None and why one of them is missing."""
    words: list[str] = []
    for word in command:
        named = re.fullmatch(r"\{([a-z-]+)\}", word)
        tool = known[named[1]] if named else {"path": word}
        if "path" not in tool:
            return None, tool["missing"]
        words.append(tool["path"])
    return words, ""
