"""What counts syncs: compiled on Linux where a compiler is, else missing with the reason."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bootstrap.checks import Outcome, load, run
from bootstrap.counter_steps import SOURCE, SYNC_COUNTER
from bootstrap.step import look
from bootstrap.tools import tools
from tests.bootstrap.conftest import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")
# stands for a compiler: what it makes holds its own words
CC = """
words="$*"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
echo "$words" > "$out"
"""


@pytest.fixture(autouse=True)
def linux(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    bench.write(SOURCE, "int counted;")


def chosen(bench: Bench, environ: Mapping[str, str]) -> None:
    bench.context = replace(bench.context, environ={**bench.context.environ, **environ})


def test_it_is_compiled_by_the_compiler_that_the_user_chose(bench: Bench) -> None:
    bench.tool("cc", "exit 1")
    bench.tool("mycc", CC)
    chosen(bench, {"CC": "mycc -m64"})
    path = bench.ensure(SYNC_COUNTER)["sync-counter"].path("sync-counter")
    assert path
    words = path.read_text("utf-8")
    assert words.startswith("-m64 ")
    assert "-Werror" in words
    assert "-shared" in words


def test_another_source_or_compiler_makes_another(bench: Bench) -> None:
    bench.tool("cc", CC)
    bench.tool("mycc", CC)
    folders = {look(SYNC_COUNTER, bench.context).folder}
    bench.write(SOURCE, "int changed;")
    folders.add(look(SYNC_COUNTER, bench.context).folder)
    chosen(bench, {"CC": "mycc"})
    folders.add(look(SYNC_COUNTER, bench.context).folder)
    assert len(folders) == 3


def test_where_it_cannot_be_the_reason_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no C compiler found" in (look(SYNC_COUNTER, bench.context).missing or "")
    bench.tool("cc", CC)
    (bench.context.clone / SOURCE).unlink()
    assert look(SYNC_COUNTER, bench.context).missing == f"{SOURCE} is not in this clone"
    bench.write(SOURCE)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert look(SYNC_COUNTER, bench.context).missing == "syncs are counted on Linux only"


def test_its_warnings_fail_the_check(bench: Bench) -> None:
    (check,) = [one for one in load() if one.name == "cc"]
    hint = look(SYNC_COUNTER, bench.context).missing or ""
    assert run(check, bench.context, tools(bench.context)) == Outcome("cc (lint)", "skipped", hint)
    bench.tool("cc", '[ "$*" = "-fsyntax-only -Wall -Wextra -Werror syncs.c" ] || exit 9; exit 1')
    failed = Outcome("cc (lint)", "failed", "exit code 1")
    assert run(check, bench.context, tools(bench.context)) == failed
