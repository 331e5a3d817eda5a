"""From the arguments of `./just` to the real `just`: ensure what is needed, then hand over."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NoReturn

from bootstrap import recipes
from bootstrap.context import WINDOWS, Context, Settings, make_context
from bootstrap.engine import ensure
from bootstrap.guarded import guarded, marked
from bootstrap.paths import just_environ, link_modules, write_paths
from bootstrap.progress import Progress
from bootstrap.step import look
from bootstrap.steps import STEPS

Recipes = Mapping[str, recipes.Recipe]
EXIT_USAGE = 2
EXIT_NOT_FIT = 3
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run `just` with `argv`; returns only for help, if it cannot run, and on Windows.

    Exit codes of its own: 2 for a recipe that does not exist, 3 where set-up cannot work, 130 on
    an interrupt.
    """
    clone = Path(__file__).resolve().parents[2]
    declared = recipes.read(clone / "Justfile")
    text = recipes.answer(argv, declared)
    if text is not None:
        sys.stdout.write(text)
        return 0
    progress = Progress()
    mistake = recipes.unknown(argv, declared)
    if mistake is not None:
        progress.say(mistake)
        return EXIT_USAGE
    return _set_up_and_run(argv, make_context(clone), progress, declared)


def needs(argv: Sequence[str], settings: Settings, claims: Collection[str] = ()) -> set[str]:
    """The steps for the recipe; one that is only asked for help, a list or a file to begin with
    needs Python alone.

    Of the builds that claims compare, those of the `claims` that are named, or all without names.
    """
    recipe, arguments = recipes.split(argv)
    if recipes.LOOKS.intersection(arguments) or [recipe, *arguments[:1]] == ["workload", "init"]:
        return {"python"}
    steps = {"python", *settings.recipes.get(recipe, ())}
    asked_for = set(claims).intersection(arguments) if recipe == "claims" else set[str]()
    if asked_for:
        steps -= set(chain(*settings.builds.values()))
        steps |= set(chain(*(settings.builds.get(claim, ()) for claim in asked_for)))
    return steps


def first_steps(argv: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The steps before the first look of a recipe without arguments; none where it takes none."""
    recipe, arguments = recipes.split(argv)
    return settings.first_steps if recipe in settings.first_looks and not arguments else ()


def _set_up_and_run(
    argv: Sequence[str], context: Context, progress: Progress, declared: Recipes
) -> int:
    files = (context.clone / "scenarios" / "claims").glob("*.toml")
    needed = needs(argv, context.settings, [file.stem.partition("-")[2] for file in files])
    try:
        context.toolchain.mkdir(parents=True, exist_ok=True)
        first = first_steps(argv, context.settings)
        if _to_make(first, context) and _to_make(needed.difference(first), context):
            # what this machine can time soon it times before the compilers start, not beside them
            looking = _set_up([*argv, "--first-look"], first, context, progress, declared)
            if looking and _outlasted(looking) == EXIT_INTERRUPTED:
                return EXIT_INTERRUPTED
        running = _set_up(argv, needed, context, progress, declared)
        return _replace_process(running) if running else EXIT_NOT_FIT
    except KeyboardInterrupt:
        progress.say("set-up interrupted; the same command goes on where it stopped")
        return EXIT_INTERRUPTED
    except OSError as error:
        progress.say(
            f"set-up cannot use {context.toolchain}: {error}; choose another SQLITMUS_TOOLCHAIN"
        )
        return EXIT_NOT_FIT


def _to_make(names: Collection[str], context: Context) -> bool:
    return any(look(STEPS[name], context).to_make for name in names)


@dataclass(frozen=True)
class Command:
    """A program with its environment and the folder it starts in; None is where we are."""

    words: list[str]
    environ: dict[str, str]
    folder: Path | None = None


def _set_up(
    argv: Sequence[str],
    needed: Collection[str],
    context: Context,
    progress: Progress,
    declared: Recipes,
) -> Command | None:
    """What the recipe runs, once the steps `needed` are made; None, and says why, where it cannot.

    A recipe that only starts a program is that program: behind `just` and its shell it would not
    hear a signal that is meant for it, and outlive them.
    """
    states = ensure([step for step in STEPS.values() if step.name in needed], context, progress)
    states |= {name: look(step, context) for name, step in STEPS.items() if name not in states}
    just = states["python"].path("just")
    environment = "python-dev" if "python-dev" in needed else "python"
    python = states[environment].path(environment)
    if just is None or python is None:
        progress.say("without its Python environment sqlitmus cannot run; see above for the reason")
        return None
    modules = states["npm"].path("npm-modules")
    if modules is not None:
        hindrance = link_modules(context, modules)
        if hindrance:
            progress.say(hindrance)
    environ = just_environ(context, write_paths(context, states), python.parent)
    program = recipes.program(argv, declared)
    if program:
        environ["SQLITMUS_CALLED_FROM"] = str(Path.cwd())
        return Command([str(python), *program], environ, context.clone)
    if WINDOWS and shutil.which("sh", path=environ["PATH"]) is None:
        progress.say(context.hint("sh"))
        return None
    words = [str(just), "--justfile", str(context.clone / "Justfile"), *recipes.spelt_out(argv)]
    return Command(words, environ)


def _replace_process(command: Command) -> int:
    if WINDOWS:  # there exec returns to the shell at once
        return _outlasted(command)
    return _exec(command)


def _outlasted(command: Command) -> int:
    environ = marked(command.environ)
    with guarded(), subprocess.Popen(command.words, env=environ, cwd=command.folder) as child:
        return outlast(child)


def outlast(child: subprocess.Popen[bytes]) -> int:
    """The exit code of a child that hears Ctrl-C, too: what it leads to is the child's to say."""
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def _exec(command: Command) -> NoReturn:
    sys.stderr.flush()
    os.chdir(command.folder or ".")
    os.execve(command.words[0], command.words, command.environ)
