"""actionlint: installed where Go is, else its check is skipped with the reason."""

import os
from dataclasses import replace

import pytest

from bootstrap.checks import Outcome, load, run
from bootstrap.go_steps import ACTIONLINT
from bootstrap.step import look
from bootstrap.tools import tools
from tests.bootstrap.conftest import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")
GO = 'echo "$*; $GOOS" > "$GOBIN/actionlint"'


def outcome(bench: Bench) -> Outcome:
    (check,) = [one for one in load() if one.name == "actionlint"]
    return run(check, bench.context, tools(bench.context))


def test_without_go_the_check_is_skipped_with_the_hint(bench: Bench) -> None:
    hint = "go not found; install Go from https://go.dev/dl"
    assert bench.ensure(ACTIONLINT)["actionlint"].missing == hint
    assert outcome(bench) == Outcome("actionlint (lint)", "skipped", hint)


def test_it_is_the_pinned_version_for_this_machine(bench: Bench) -> None:
    bench.tool("go", GO)
    environ = {**bench.context.environ, "GOOS": "plan9"}
    bench.context = replace(bench.context, environ=environ)
    path = bench.ensure(ACTIONLINT)["actionlint"].path("actionlint")
    version = bench.context.settings.versions["actionlint"]
    assert path
    asked = f"install github.com/rhysd/actionlint/cmd/actionlint@v{version}; \n"
    assert path.read_text("utf-8") == asked
    settings = replace(bench.context.settings, versions={"actionlint": "1.7.13"})
    newer = replace(bench.context, settings=settings)
    assert look(ACTIONLINT, newer).folder != path.parent


def test_where_no_module_proxy_answers_the_check_is_skipped_and_names_the_log(
    bench: Bench,
) -> None:
    bench.tool("go", "echo 'dial tcp: no such host' >&2; exit 1")
    assert bench.ensure(ACTIONLINT)["actionlint"].missing
    assert "| dial tcp: no such host" in bench.said.getvalue()
    log = bench.context.logs / "actionlint.log"
    assert outcome(bench) == Outcome("actionlint (lint)", "skipped", f"set-up failed; see {log}")


def test_what_it_finds_fails_the_check(bench: Bench) -> None:
    bench.tool(
        "go", 'echo "#!/bin/sh\nexit 1" > "$GOBIN/actionlint"; /bin/chmod +x "$GOBIN/actionlint"'
    )
    bench.ensure(ACTIONLINT)
    assert outcome(bench) == Outcome("actionlint (lint)", "failed", "exit code 1")
