"""Stands for npm: `view` and `install` as a JSON file tells, `--ignore-scripts` or not at all.

The file holds `published` (version lists by package), `files` (what an installed package holds) and
perhaps `view` or `install`: how these misbehave. Each call is added to `calls` beside it.
"""

# pyright: basic

import json
import sys
from pathlib import Path

STATE = Path(__file__).with_name("npm.json")
FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--engine-strict=false"]


def main(words: list[str]) -> int:
    """One command; the exit code."""
    state = json.loads(STATE.read_text("utf-8"))
    with STATE.with_name("calls").open("a", encoding="utf-8") as calls:
        calls.write(" ".join(words) + "\n")
    if words[0] == "view":
        return view(state, words[1])
    if words[0] == "install" and set(FLAGS) <= set(words):
        return install(state)
    return 9


def view(state: dict, spec: str) -> int:
    """The versions of `NAME` or `NAME@PREFIX`."""
    behaviour = state.get("view")
    if behaviour == "offline":
        return refuse("ENOTFOUND", "the registry cannot be reached")
    if behaviour is not None:
        print(behaviour)
        return 0
    name, _, wanted = spec.rpartition("@") if "@" in spec[1:] else (spec, "", "")
    if name not in state["published"]:
        return refuse("E404", "no such package")
    found = [v for v in state["published"][name] if f"{v}.".startswith(f"{wanted}." * bool(wanted))]
    if not found:
        return refuse("E404", "no match")
    print(json.dumps(found if len(found) > 1 else found[0]))
    return 0


def refuse(code: str, summary: str) -> int:
    """What npm prints with --json when it cannot."""
    print(json.dumps({"error": {"code": code, "summary": summary, "detail": ""}}))
    return 1


def install(state: dict) -> int:
    """Put each file of the package into node_modules."""
    if state.get("install") == "fails":
        print("npm error code EACCES", file=sys.stderr)
        return 243
    wanted = json.loads(Path("package.json").read_text("utf-8"))["dependencies"]
    for name, version in wanted.items():
        for file, text in state["files"].get(name, {}).items():
            path = Path("node_modules") / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("VERSION", version), "utf-8")
            path.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
