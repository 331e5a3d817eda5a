"""Asks npm for a package's versions."""

import re
import subprocess

from pydantic import TypeAdapter, ValidationError

from bootstrap.context import Context
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import NotFit

VIEW_TIMEOUT_S = 120


class _Refusal(Model, extra="ignore"):
    code: str = ""
    summary: str = ""


class _Refused(Model):
    error: _Refusal


_Answer: TypeAdapter[str | list[str] | _Refused] = TypeAdapter(str | list[str] | _Refused)


class RefusedError(Exception):
    """npm's own error: its code, then its summary."""


def view(context: Context, spec: str, key: str) -> list[str]:
    """The versions that `npm view` lists under a key; empty when an older npm prints nothing.

    Raises RefusedError with npm's own error, NotFit when its answer makes no sense.
    """
    command = [*program(context), "view", spec, key, "--json", "--fetch-retries=0"]
    try:
        done = subprocess.run(
            command,
            env=dict(context.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VIEW_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise NotFit(f"{command[0]}: {error.strerror}; reinstall Node.js") from error
    except subprocess.TimeoutExpired as error:
        raise RefusedError("ETIMEDOUT", f"no answer in {VIEW_TIMEOUT_S} s") from error
    if not done.stdout.strip() and not done.returncode:
        return []
    try:
        answer = _Answer.validate_json(done.stdout)
    except ValidationError as error:
        output = (done.stdout.strip() or done.stderr.strip()).decode(errors="replace")[:200]
        raise NotFit(f"`npm view {spec} {key}` answered no version but {output!r}") from error
    if isinstance(answer, _Refused):
        raise RefusedError(answer.error.code, answer.error.summary)
    listed = [answer] if isinstance(answer, str) else answer
    strange = [text for text in listed if not is_exact(text)]
    if strange:
        raise NotFit(f"`npm view {spec} {key}` answered no version but {strange[0]!r}")
    return listed


def program(context: Context) -> list[str]:
    """The command that starts npm; raises NotFit with the hint.

    On Windows npm is a batch file, whose interpreter would interpret the ^, < and > of a range, so
    Node starts the script that the batch file starts.
    """
    npm = context.find("npm")
    if npm is None:
        raise NotFit(f"versions are fetched with npm: {context.hint('npm')}")
    script = npm.parent / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = context.find("node")
    if npm.suffix.lower() == ".cmd" and node and script.is_file():
        return [str(node), str(script)]
    return [str(npm)]


def is_exact(text: str) -> bool:
    """Whether `text` is a single version rather than a range."""
    return bool(re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", text))


def order(version: str) -> tuple[list[int], bool, str]:
    """A sort key of versions: a pre-release comes before its release."""
    numbers, dash, rest = version.partition("-")
    return [int(part) for part in numbers.split(".")], not dash, rest
