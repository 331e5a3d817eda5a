"""From what a user names to a runner: the text, its errors, the runner made of it."""

import re
import string
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.compare import subject
from sqlitmus.compare.subject import EXPECTED, Subject, parse
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.paths import Tools

RUNNERS = ["node", "node-better-sqlite3", "rust", "rust-ffi"]
TOOLS = Tools({"node": "/tools/node"}, {})
NODE = RunnerSpec(
    name="node",
    title="Node · node:sqlite",
    runtime="Node",
    driver="node:sqlite",
    tool="node",
    command=["{node}", "{runners}/node/main.js"],
    handwritten=["{node_dir}/by-hand"],
    environment={"A": "b"},
    role="floor",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node", Subject("node")),
        ("node@24", Subject("node", version="24")),
        ("node@v24.1.0", Subject("node", version="24.1.0")),
        ("node@>=24 <25", Subject("node", version=">=24 <25")),
        ("node@^24.1 || 26", Subject("node", version="^24.1 || 26")),
        ("node@26.0.0-rc.1", Subject("node", version="26.0.0-rc.1")),
        ("node=/opt/c++/a=b@2/node", Subject("node", path="/opt/c++/a=b@2/node")),
        ("rust+threading=serialized", Subject("rust", engine={"threading": "serialized"})),
        (
            "rust=../r+memstatus=0+threading=multi-thread",
            Subject("rust", path="../r", engine={"memstatus": 0, "threading": "multi-thread"}),
        ),
        ("node-better-sqlite3@12.4.1", Subject("node-better-sqlite3", version="12.4.1")),
    ],
)
def test_texts_that_name_a_subject(text: str, expected: Subject) -> None:
    assert parse(text, RUNNERS) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nod", "there is no runner 'nod'; did you mean node?"),
        (
            "",
            "there is no runner ''; expected one of node, node-better-sqlite3, rust, rust-ffi",
        ),
        ("rust-fi+a=1", "there is no runner 'rust-fi'; did you mean rust-ffi or rust?"),
        ("node@", "no version after node@"),
        ("node=", "no path after node="),
        ("node=+threading=x", "no path after node="),
        ("node@file:../evil", "'file:../evil' is no version and no range of npm's"),
        ("node@-g", "'-g' is no version and no range of npm's"),
        ("node@24+threading", "'24+threading' is no version and no range of npm's"),
        ("rust+threading", "+threading has no value"),
        ("rust+threading=", "+threading= has no value that is a word"),
        ("rust+threading=a b", "+threading=a b has no value that is a word"),
        ("rust+a=1+a=2", "+a is given twice; keep one"),
    ],
)
def test_texts_that_name_none_are_told_with_examples(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text, RUNNERS)
    end = "" if "twice" in message else f"; {EXPECTED}"
    assert str(raised.value) == f"{text!r}: {message}{end}"


WORDS = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
SUBJECTS = st.builds(
    Subject,
    st.sampled_from(RUNNERS),
    version=st.none() | st.from_regex(r"\A[0-9]{1,2}(\.[0-9]{1,2}){0,2}\Z"),
    engine=st.dictionaries(WORDS, WORDS | st.integers(-9, 9)),
) | st.builds(
    Subject,
    st.sampled_from(RUNNERS),
    path=st.text(string.ascii_letters + "/@=. ", min_size=1),
    engine=st.dictionaries(WORDS, WORDS | st.integers(-9, 9)),
)


@given(SUBJECTS)
def test_a_subjects_text_is_read_back(given: Subject) -> None:
    assert parse(str(given), RUNNERS) == given


@given(st.text())
def test_any_text_is_a_subject_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert parse(text, RUNNERS).runner in RUNNERS


def test_labels_show_the_end_of_a_path_that_tells_subjects_apart() -> None:
    def labels(*texts: str) -> list[str]:
        return subject.labels_of([parse(text, RUNNERS) for text in texts])

    assert labels("node", "node@24", "rust+a=1") == ["node", "node@24", "rust+a=1"]
    assert labels("node=/home/u/out/Release/node", "node=node") == [
        "node=…/Release/node",
        "node=node",
    ]
    assert labels("node=/x/a/bin/node", "node=/x/b/bin/node", "rust=/q/r/s/t") == [
        "node=…/a/bin/node",
        "node=…/b/bin/node",
        "rust=…/r/s/t",
    ]
    assert labels("node=/a/b/c/d", "node=/z/a/b/c/d", "node=a/b/c/d") == [
        "node=/a/b/c/d",
        "node=…/a/b/c/d",
        "node=a/b/c/d",
    ]


@given(st.lists(SUBJECTS, unique_by=str, max_size=4))
def test_labels_of_different_subjects_differ(given: list[Subject]) -> None:
    assert len(set(subject.labels_of(given))) == len(given)


def test_a_plain_subject_is_the_runner_itself() -> None:
    assert subject.derive(NODE, Subject("node"), "node", TOOLS) == (NODE, TOOLS)


def test_another_program_stands_for_the_runners_tool() -> None:
    program = Path("/opt/{new}/node")
    asked = Subject("node", path=str(program))
    made, tools = subject.derive(NODE, asked, "node=…/node", TOOLS, program=program)
    assert made == NODE.model_copy(
        update={
            "name": "node=…/node",
            "title": "Node · node:sqlite, /opt/{new}/node",
            "tool": "node=…/node",
            "command": ["/opt/{{new}}/node", "{runners}/node/main.js"],
            "handwritten": ["/opt/{{new}}/by-hand"],
            "role": "runner",
        }
    )
    assert tools.paths == {"node": "/tools/node", "node=…/node": "/opt/{new}/node"}
    assert TOOLS.paths == {"node": "/tools/node"}


def test_another_package_is_named_in_the_environment_and_among_the_sources() -> None:
    asked = Subject("node", version="13.1.1")
    made, tools = subject.derive(NODE, asked, "node@13.1.1", TOOLS, package=Path("/v/a b"))
    assert (made.name, made.title) == ("node@13.1.1", "Node · node:sqlite, 13.1.1")
    assert made.environment == {"A": "b", "SQLITMUS_BETTER_SQLITE3": "file:///v/a%20b/"}
    assert made.sources == [".", "/v/a b"]
    assert (made.command, made.tool, tools) == (NODE.command, "node", TOOLS)


def test_engine_options_are_added_to_the_runners_own() -> None:
    base = NODE.model_copy(update={"engine": {"a": 1, "b": 2}})
    asked = Subject("node", engine={"b": 3, "c": "x"})
    made, _ = subject.derive(base, asked, str(asked), TOOLS)
    assert made.engine == {"a": 1, "b": 3, "c": "x"}
    assert made.title == "Node · node:sqlite, b=3+c=x"


def test_the_variable_is_the_one_that_the_driver_reads() -> None:
    driver = Path(__file__).parents[3] / "runners/javascript/drivers/driver.js"
    assert re.findall(r"SQLITMUS_\w+(?=\";)", driver.read_text("utf-8")) == [
        subject.PACKAGE_VARIABLE
    ]
