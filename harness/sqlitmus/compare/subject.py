"""The subjects of `compare`: a runner, perhaps in another version, program or engine. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from sqlitmus.catalog.declared import RunnerSpec
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.paths import Tools
from sqlitmus.vocabulary.suggest import unknown

EXPECTED = (
    "expected RUNNER, RUNNER@VERSION or RUNNER=PATH, each with +OPTION=VALUE where wanted, such as "
    "node@24, node=/opt/node/bin/node or rust+threading=serialized"
)
PACKAGE_VARIABLE = "SQLITMUS_BETTER_SQLITE3"  # read in runners/javascript/drivers/driver.js

_OPTION = re.compile(r"\+(?=[A-Za-z_]\w*=)")  # a path may hold a plus sign of its own
_VERSION = re.compile(r"[0-9A-Za-z^~<>=*][0-9A-Za-z.^~<>=|* -]*")
_VALUE = re.compile(r"[0-9A-Za-z_.-]+")


@dataclass(frozen=True, slots=True)
class Subject:
    """A runner and its differences; `version` is one of npm's, exact or a range.

    Its text is what the user writes; `parse` reads it back.
    """

    runner: str
    version: str | None = None
    path: str | None = None
    engine: dict[str, str | int] = field(default_factory=dict[str, str | int])

    @property
    def detail(self) -> str:
        """The difference as the user writes it; empty for a plain runner."""
        version = f"@{self.version}" if self.version else ""
        path = f"={self.path}" if self.path else ""
        return version + path + "".join(f"+{k}={v}" for k, v in sorted(self.engine.items()))

    def __str__(self) -> str:
        return self.runner + self.detail


def parse(text: str, runners: Iterable[str]) -> Subject:
    """The subject of `text`; raises UsageError with the nearest names and examples."""
    head, *options = _OPTION.split(text)
    name, kind, rest = re.fullmatch(r"([^@=]*)([@=]?)(.*)", head, re.DOTALL).groups()  # pyright: ignore[reportOptionalMemberAccess] — it matches every text
    names = list(runners)
    bare, plus, option = name.partition("+")
    if plus and bare in names:
        raise UsageError(f"{text!r}: +{option} has no value; {EXPECTED}")
    if name not in names:
        raise UsageError(f"{text!r}: {unknown('runner', name, names)}; {EXPECTED}")
    if kind and not rest:
        what = "version" if kind == "@" else "path"
        raise UsageError(f"{text!r}: no {what} after {name}{kind}; {EXPECTED}")
    version = path = None
    if kind == "@":
        if not _VERSION.fullmatch(rest):
            raise UsageError(f"{text!r}: {rest!r} is no version and no range of npm's; {EXPECTED}")
        version = re.sub(r"^v(?=\d)", "", rest)
    elif kind:
        path = rest
    return Subject(name, version, path, _engine(text, options))


def _engine(text: str, options: list[str]) -> dict[str, str | int]:
    engine: dict[str, str | int] = {}
    for option in options:
        key, _, value = option.partition("=")
        if not _VALUE.fullmatch(value):
            raise UsageError(f"{text!r}: +{key}={value} has no value that is a word; {EXPECTED}")
        if key in engine:
            raise UsageError(f"{text!r}: +{key} is given twice; keep one")
        engine[key] = int(value) if re.fullmatch(r"-?[0-9]+", value) else value
    return engine


def labels(subjects: list[Subject]) -> list[str]:
    """Short, distinct names of the subjects; a path is cut to the end that distinguishes it."""
    length = 2
    while True:
        short = [str(replace(s, path=_tail(s.path, length))) for s in subjects]
        if len(set(short)) == len(set(map(str, subjects))):
            return short
        length += 1


def _tail(path: str | None, length: int) -> str | None:
    whole = PurePath(path or "")
    parts = whole.parts[bool(whole.anchor) :]
    return path if len(parts) <= length else "…/" + "/".join(parts[-length:])


def derive(
    runner: RunnerSpec,
    subject: Subject,
    label: str,
    tools: Tools,
    *,
    program: Path | None = None,
    package: Path | None = None,
) -> tuple[RunnerSpec, Tools]:
    """`runner` under the name `label`: the same sources, started as the subject asks.

    `program` is the executable to start instead of the runner's tool, `package` the folder of the
    better-sqlite3 to load. A plain subject changes nothing.
    """
    if not subject.detail:
        return runner, tools
    changes: dict[str, object] = {
        "name": label,
        "title": f"{runner.title}, {subject.detail.lstrip('@=+')}",
        "role": "runner",  # only the catalogue's own is the floor or the oracle
        "engine": {**runner.engine, **subject.engine},
    }
    if program:
        tools = Tools({**tools.paths, label: str(program)}, tools.missing)
        filled = {runner.tool: str(program), f"{runner.tool}_dir": str(program.parent)}
        changes["tool"] = label
        changes["command"] = [_fill(word, filled) for word in runner.command]
        changes["handwritten"] = [_fill(word, filled) for word in runner.handwritten]
    if package:
        url = package.as_uri() + "/"
        changes["environment"] = {**runner.environment, PACKAGE_VARIABLE: url}
        changes["sources"] = [*runner.sources, str(package)]
    return runner.model_copy(update=changes), tools


def _fill(word: str, values: dict[str, str]) -> str:
    """`word` with some of its placeholders replaced by text that `runners.expand` leaves alone."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value.replace("{", "{{").replace("}", "}}"))
    return word
