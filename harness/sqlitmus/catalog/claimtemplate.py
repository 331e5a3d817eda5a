"""The file that a new claim begins with. Pure."""

import re
import string
from collections.abc import Iterable

from sqlitmus.vocabulary.errors import UsageError

TEXT = """\
# What is empty must be filled; `./just claims --list` names what is still wrong, with its line.
# docs/claims.md explains each key, and follows one claim from paper to verdict.

# The claim in a sentence that can turn out false.
title = ""
# Who published it, where and when.
source = ""
# The machine it was published on, or "not stated".
published_on = ""
# What should be seen here if it is true, with its figures.
hypothesis = ""
# The name of a claim in this folder whose publication says the opposite; it names this one, too.
# contradicts = ""
# How this experiment differs from the published one; whoever reads the verdict must know.
differences = []
# What of the publication nobody can repeat here, and why.
untestable = []

# What each outcome means for somebody who writes a service.
[lessons]
reproduced = ""
different = ""
unresolved = ""
reversed = ""
untestable = ""

[[groups]]
title = "times as fast"
# steady (time of an operation), wall (of a process), loop, average, p50, p99, p999, max
metric = "steady"
# Every ratio is base / new: how many times as fast new is. Cases: ./just list cases
base = { case = "" }
new = { case = "" }
runners = ["node"]
# If no difference was published: expects = "no effect", with the tolerance that still is none.
rows = [
    # published: the ratio. said: the publication's own figures with their unit.
    # key = true: this row decides the claim's verdict.
    { name = "", published = 1.2, said = "", key = true },
]
"""


def file_name(name: str, files: Iterable[str]) -> str:
    """The name of a new claim's file, which comes after those that are there.

    Raises UsageError for a name that is taken, or that no file should have.
    """
    if name == "new" or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} cannot name a claim; expected lower-case words and digits with dashes "
            "between them, and not new"
        )
    prefixes: list[str] = []
    for file in files:
        prefix, _, taken = file.removesuffix(".toml").partition("-")
        if taken == name:
            raise UsageError(f"{file} is the claim {name} already; choose another name")
        prefixes.append(prefix)
    last = max((p for p in prefixes if p in string.ascii_lowercase), default="")
    following = string.ascii_lowercase.index(last) + 1 if last else 0
    return f"{string.ascii_lowercase[min(following, 25)]}-{name}.toml"
