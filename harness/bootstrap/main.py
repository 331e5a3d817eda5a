"""From the arguments of `./just` to the real `just`: ensure what is needed, then hand over."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from bootstrap.built_steps import DOTNET, HYPERFINE, RUST
from bootstrap.context import WINDOWS, Context, Settings, make_context
from bootstrap.engine import ensure
from bootstrap.go_steps import ACTIONLINT
from bootstrap.npm_steps import NPM, NPM_DEV
from bootstrap.paths import just_environ, link_modules, write_paths
from bootstrap.progress import Progress
from bootstrap.python_steps import PYTHON, PYTHON_DEV
from bootstrap.step import State, Step, look
from bootstrap.variant_steps import RUST_SYSTEM, RUST_VARIANTS

# in the order of starting: what everything waits for, then the longest
STEPS: dict[str, Step] = {
    step.name: step
    for step in (
        *(PYTHON, RUST, HYPERFINE, NPM, DOTNET, PYTHON_DEV, NPM_DEV),
        *(ACTIONLINT, RUST_VARIANTS, RUST_SYSTEM),
    )
}
EXIT_NOT_FIT = 3
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run `just` with `argv`; returns only if it cannot (3), on an interrupt (130), on Windows."""
    clone = Path(__file__).resolve().parents[2]
    context = make_context(clone)
    progress = Progress()
    needed = needs(argv, context.settings)
    try:
        context.toolchain.mkdir(parents=True, exist_ok=True)
        states = ensure([step for step in STEPS.values() if step.name in needed], context, progress)
        states |= {name: look(step, context) for name, step in STEPS.items() if name not in states}
        return _hand_over(argv, needed, context, states, progress)
    except KeyboardInterrupt:
        progress.say("set-up interrupted; the same command goes on where it stopped")
        return EXIT_INTERRUPTED
    except OSError as error:
        progress.say(
            f"set-up cannot use {context.toolchain}: {error}; choose another SQLITMUS_TOOLCHAIN"
        )
        return EXIT_NOT_FIT


def needs(argv: Sequence[str], settings: Settings) -> set[str]:
    """The steps for the recipe: the first word that is neither an option nor an assignment."""
    recipe = next((word for word in argv if not word.startswith("-") and "=" not in word), "")
    return {"python", *settings.recipes.get(recipe, ())}


def _hand_over(
    argv: Sequence[str],
    needed: set[str],
    context: Context,
    states: Mapping[str, State],
    progress: Progress,
) -> int:
    just = states["python"].path("just")
    python = states["python-dev" if "python-dev" in needed else "python"].path(
        "python-dev" if "python-dev" in needed else "python"
    )
    if just is None or python is None:
        progress.say("without its Python environment sqlitmus cannot run; see above for the reason")
        return EXIT_NOT_FIT
    modules = states["npm"].path("npm-modules")
    if modules is not None:
        hindrance = link_modules(context, modules)
        if hindrance:
            progress.say(hindrance)
    environ = just_environ(context, write_paths(context, states), python.parent)
    words = [str(just), "--justfile", str(context.clone / "Justfile"), *argv]
    return _replace_process(words, environ)


def _replace_process(words: Sequence[str], environ: Mapping[str, str]) -> int:
    if WINDOWS:  # there exec returns to the shell at once
        return subprocess.call(words, env=environ)
    return _exec(words, environ)


def _exec(words: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    sys.stderr.flush()
    os.execve(words[0], list(words), environ)
