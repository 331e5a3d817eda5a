"""The recipes as the Justfile declares them: what help can say before anything is set up."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# a comment line, perhaps a group, the header (a name, parameters, a colon), and the program that is
# all it starts, with its arguments
_RECIPE = re.compile(
    r'^# (.*)\n(?:\[group\("(.*)"\)\]\n)?([a-z][\w-]*)((?: \S+)*):(?!=)'
    r'(?:\n +@python (.*) "\$@"\n(?! ))?',
    re.MULTILINE,
)
_OURS = "-m sqlitmus "
HELP = frozenset({"-h", "--help"})
# arguments of a recipe that only print: nothing is compiled for them
LOOKS = HELP | {"--list", "--plan"}
_LISTING = ((), ("-h",), ("--help",), ("-l",), ("--list",))
# a recipe with these parameters hands its arguments, --help too, to a program
_PASSED_ON = "*ARGS"


@dataclass(frozen=True)
class Recipe:
    """A recipe of the Justfile: its parameters as written, the comment above it, its group.

    `program` is what Python runs with its arguments, if it does nothing else.
    """

    name: str
    parameters: str
    comment: str
    group: str
    program: str

    @property
    def starts(self) -> str:
        """The command of sqlitmus, with options of its own, that gets its arguments, or ""."""
        return self.program.removeprefix(_OURS) if self.program.startswith(_OURS) else ""


def read(justfile: Path) -> dict[str, Recipe]:
    """The public recipes by name, in the file's order."""
    text = justfile.read_text("utf-8")
    return {
        name: Recipe(name, parameters.strip(), comment, group, program)
        for comment, group, name, parameters, program in _RECIPE.findall(text)
    }


def split(argv: Sequence[str]) -> tuple[str, list[str]]:
    """The recipe and its arguments; options of `just` and assignments may stand before it."""
    for place, word in enumerate(argv):
        if not word.startswith("-") and "=" not in word:
            return word, list(argv[place + 1 :])
    return "", []


def answer(argv: Sequence[str], recipes: Mapping[str, Recipe]) -> str | None:
    """The help that needs no program: the list of recipes, or a recipe's own usage."""
    if tuple(argv) in _LISTING:
        return _listing(recipes)
    name, arguments = split(argv)
    recipe = recipes.get(name)
    if recipe is None or not HELP.intersection(arguments):
        return None
    words = [name, *map(_usage, recipe.parameters.split())]
    text = f"usage: ./just {' '.join(words)}\n\n{recipe.comment}\n"
    if recipe.starts not in ("", name):
        command = recipe.starts.split()[0]
        more = f"`./just {recipe.starts}`; `./just {command} --help` explains its other options"
        return f"{text}\nIt is {more}.\n"
    return None if recipe.parameters == _PASSED_ON else text


def unknown(argv: Sequence[str], recipes: Mapping[str, Recipe]) -> str | None:
    """What to say of a recipe that does not exist, or None."""
    if not argv or argv[0].startswith("-") or "=" in argv[0] or argv[0] in recipes:
        return None
    from difflib import get_close_matches

    close = get_close_matches(argv[0], recipes, 1)
    advice = f"did you mean {close[0]}?" if close else "./just --list says which there are"
    return f"there is no recipe {argv[0]!r}; {advice}"


def spelt_out(argv: Sequence[str]) -> list[str]:
    """The arguments with `-h` of a recipe as `--help`, which every program here understands."""
    name, arguments = split(argv)
    before = list(argv[: len(argv) - len(arguments)]) if name else list(argv)
    return before + ["--help" if word == "-h" else word for word in arguments]


def program(argv: Sequence[str], recipes: Mapping[str, Recipe]) -> list[str] | None:
    """What Python gets for a recipe that only starts a program; None where `just` has to run it."""
    recipe = recipes.get(argv[0]) if argv else None
    if recipe is None or not recipe.program:
        return None
    return [*shlex.split(recipe.program), *spelt_out(argv)[1:]]


def _usage(parameter: str) -> str:
    return f"[{parameter[1:]}]..." if parameter.startswith("*") else parameter


def _listing(recipes: Mapping[str, Recipe]) -> str:
    """All recipes, those without a group first."""
    width = max(map(len, recipes))
    lines = ["usage: ./just RECIPE [ARGUMENTS]", "       ./just RECIPE --help"]
    for group in sorted({recipe.group for recipe in recipes.values()}):
        lines += ["", *([f"To {group}:"] if group else [])]
        mine = [recipe for recipe in recipes.values() if recipe.group == group]
        lines += [f"  {recipe.name:<{width}}  {recipe.comment}" for recipe in mine]
    return "\n".join(lines) + "\n"
