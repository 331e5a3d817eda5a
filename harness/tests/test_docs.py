"""The documents name what there is, what they name is there, each line holds one sentence, and
all that users read has the glossary's words.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from bootstrap import recipes
from sqlitmus.stats.estimate import student_p, student_t, trimmed_means
from sqlitmus.workload.file import read
from sqlitmus.workload.trace import with_queries
from tests import known
from tests.known import KNOWN, ROOT, commands, options
from tests.machines.folders import ask, change

OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
RECIPES = recipes.read(ROOT / "Justfile")
STARTS = {name: recipe.starts.split()[0] for name, recipe in RECIPES.items() if recipe.starts}

DOCUMENTS = sorted(
    file.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "runners/*/*.md", "harness/tests/stats/traces/*.md")
    for file in ROOT.glob(pattern)
)
LONGEST = 250
ABBREVIATION = re.compile(r"\b(al|cf|e\.g|i\.e|vs|No|[A-Z])\.$")


def document(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines outside of code, tables, formulas and HTML."""
    fenced = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```|\$\$)", line)
        if fenced:
            fenced = "" if fenced in line else fenced
        elif mark:
            fenced = "" if line.rstrip().endswith("$$") or ",$$" in line else mark[1]
        elif not re.match(r"\s*(\||<)", line):
            yield number, line


def test_help_lists_every_command_and_the_exit_codes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sqlitmus", "--help"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "harness"), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    listed = re.findall(r"^  ([a-z]+) {2,}", done.stdout.partition("Commands:")[2], re.MULTILINE)
    assert listed == list(commands())
    help_text = " ".join(done.stdout.split())
    for code in ("0 done", "2 usage", "4 some cells failed", "5 wrong answers", "130 interrupted"):
        assert code in help_text


def test_the_page_of_commands_explains_every_recipe() -> None:
    row = re.compile(r"^\| `\./just ([a-z-]+)", re.MULTILINE)
    explained = set(row.findall(document("docs/commands.md")))
    assert explained == set(RECIPES), "docs/commands.md: a table has a row for each recipe"
    assert commands().keys() <= RECIPES.keys()


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md", "docs/claims.md"])
def test_options_beside_a_command_are_its_own(name: str) -> None:
    """In rows of tables, and in what is typed."""
    foreign: list[str] = []
    for number, line in enumerate(document(name).splitlines(), 1):
        named = re.findall(r"\./just ([a-z-]+)", line)
        command = str(STARTS.get(named[0], named[0])) if len(set(named)) == 1 else ""
        if command not in commands() or line[0] not in "|$":
            continue
        pieces = [line[1:]] if line.startswith("$") else re.findall(r"`([^`]+)`", line)
        given = {option for piece in pieces for option in OPTION.findall(unquoted(piece))}
        foreign += [
            f"{name}:{number}: {command} {o}" for o in given - options(command) - {"--help"}
        ]
    assert not foreign


def unquoted(text: str) -> str:
    """The text without what is quoted, which may look like an option."""
    return re.sub(r"'[^']*'", "", text)


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md"])
def test_options_by_themselves_belong_to_some_command(name: str) -> None:
    of_any = {option for command in commands() for option in options(command)}
    alone = set(re.findall(r"`(--?[a-z][a-z-]*)[ `]", document(name)))
    assert alone <= of_any | {"-profile"}, f"{name} names options that do not exist"


def test_the_readme_counts_what_there_is() -> None:
    catalog = known.read(ROOT)
    assert f"{len(catalog.scenarios)} scenarios" in document("README.md")
    claims = known.published(catalog)
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    count = words[len(claims)] if len(claims) < len(words) else len(claims)
    assert f"{count} published experiments" in document("README.md")


def test_the_workload_and_the_trace_that_are_shown_are_the_examples(tmp_path: Path) -> None:
    text = document("docs/your-workload.md")
    assert f"```toml\n{document('docs/workload/app.toml')}```" in text
    trace = ROOT / "docs/workload/app.jsonl"
    assert f"```json\n{trace.read_text('utf-8')}```" in text
    toml = text.partition("```\n\n```toml\ndatabase")[2].partition("```")[0]
    shutil.copy(trace, tmp_path)
    (tmp_path / "my.toml").write_text(f"database{toml}", "utf-8")
    source = with_queries(read(tmp_path / "my.toml", KNOWN), print)
    assert list(source.workload.query) == ["select-document", "in-transaction-insert-visit"]


HEAD, *QUESTIONS = (ROOT / "docs/run-file.sql").read_text("utf-8").strip().split("\n\n")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_to_a_run_has_an_answer(question: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ROOT / "reports/example/runs/advise", folder)
    change(folder, "UPDATE sample SET outcome = 'failed' WHERE id = 1")
    change(folder, "INSERT INTO iteration VALUES(2, '[9]', '[1, 2]', '[]', '[]')")
    assert ask(folder, question)


def test_ten_questions_are_asked_and_the_document_shows_one_of_them() -> None:
    assert (HEAD.startswith("-- Ten questions"), len(QUESTIONS)) == (True, 10)
    (shown,) = re.findall(r"```sql\n(.*?)\n```", document("docs/run-file.md"), re.DOTALL)
    assert shown in QUESTIONS


def anchors(text: str) -> set[str]:
    """What links to the document's headings end with, as GitHub makes it of them."""
    titles = re.findall(r"^#+ (.+)$", CODE.sub(lambda code: code[0].strip("`"), text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_a_file_and_its_heading(name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", document(name))
    links += [(file, "") for file in re.findall(r'(?:src|srcset)="([^"]+)"', document(name))]
    lost: list[str] = []
    for file, heading in links:
        target = (ROOT / name).parent / file if file else ROOT / name
        if not target.exists() or (heading and heading not in anchors(target.read_text("utf-8"))):
            lost.append(f"{file}#{heading}")
    assert not lost


def test_the_documents_stay_short() -> None:
    """A new sentence pays with an old one."""
    words = {name: len(document(name).split()) for name in DOCUMENTS if name.count("/") < 2}
    del words["CHANGELOG.md"]
    assert len(document("README.md").splitlines()) < 150
    assert words["docs/method.md"] <= 4_000
    assert sum(words.values()) <= 15_000


PLACE = re.compile(r"`(test_\w+\.py|[\w.-]+(?:/[\w.-]+)*(?:/|/[\w-]+\.\w+))`")
BASES = [ROOT / folder for folder in (".", "harness", "harness/sqlitmus")]


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if re.match(r"docs/|[A-Z]+\.md", n)])
def test_files_and_folders_that_a_document_names_are_there(name: str) -> None:
    """Those of the clone, as its top or the harness's have them; runs lie in `results/`."""
    lost: list[str] = []
    for place in PLACE.findall(document(name)):
        top = place.partition("/")[0]
        here = [base for base in BASES if (base / top).is_dir()]
        if place == top:
            lost += [place] * (not any((ROOT / "harness/tests").rglob(place)))
        elif here and top != "results" and not re.search("NAME|LETTER", place):
            lost += [place] * (not any((base / place).exists() for base in here))
    assert not lost, f"{name}: not there"


def test_the_method_says_what_its_example_of_a_stated_work_does() -> None:
    spec = KNOWN.scenarios["insert-transaction"]
    warmup, timed = (spec.warmup_operations or 0, spec.timed_operations or 0)
    checkpoints = timed // 208  # as the note in the file explains
    rows, of_them = (f"{many * spec.per_operation:,}" for many in (warmup + timed, timed))
    (note,) = spec.notes
    assert f"{rows} rows into an empty table, {of_them} of them timed; {checkpoints} " in note
    says = f"with {rows} rows, and {checkpoints} checkpoints fall into the last {of_them}."
    assert says in document("docs/method.md")


def test_the_example_by_hand_is_what_the_run_and_the_code_say() -> None:
    method = document("docs/method.md").partition("### By hand")[2].partition("\n### ")[0]
    question, text = re.findall(r"```sql\n(.*?)```(.*)", method, re.DOTALL)[0]
    ratios = [row[0] for row in ask(ROOT / "reports/example/runs/compare-node", question)]
    logs = np.log(ratios)
    moved = np.clip(logs, logs[4], logs[15])
    squares = np.square(moved - moved.mean()).sum()
    of = trimmed_means(logs[None])
    mean, error, f, t = *of.mean, *of.error, *of.freedom, *student_t(0.95, of.freedom)
    low, high = (end[0] for end in of.interval())
    beyond = (abs(mean) - log(1.02)) / error
    (p,) = student_p(np.array([beyond]), of.freedom)
    steps = [*ratios, 0.85, f, t, mean, ratios[4], ratios[15], moved.mean(), squares, squares]
    steps += [error, mean, t, error, low, high, exp(mean), exp(low), exp(high), exp(logs.mean())]
    steps += [1.02, 1 / 1.02, f, -mean, log(1.02), error, p, 9 * p]
    numbers = re.findall(r"(?<![\d])-?\d+\.\d+", re.sub(r"(\d)-", r"\1 ", text.replace("−", "-")))
    places = [len(number.partition(".")[2]) for number in numbers]
    assert numbers == [f"{step:.{n}f}" for step, n in zip(steps, places, strict=True)]
    row = re.findall("\n.*`get-pk profile=shipped`.*", document("reports/example/compare-node.md"))
    says = (
        f"{100 * (exp(mean) - 1):.0f} % [{100 * (exp(low) - 1):.0f}, {100 * (exp(high) - 1):.0f}]"
    )
    assert says in row[0].replace("*", "").replace("−", "-")
    assert "materially faster" in row[0]
    assert f"The report says {says}." in text.replace("−", "-")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_line_holds_one_sentence_and_numbered_lists_count_from_one(name: str) -> None:
    """A number that slipped into the line before is missing in its list."""
    last = 0
    crowded: list[str] = []
    for number, line in prose(document(name)):
        if len(line) > LONGEST or sentences(line) > 1:
            crowded.append(f"{name}:{number}: {line[:60]}")
        if item := re.match(r"(\d+)\. ", line):
            assert int(item[1]) in (1, last + 1), f"{name}:{number}"
            last = int(item[1])
    assert not crowded, "write one sentence per line, each of at most 250 characters"


def sentences(line: str) -> int:
    """How many sentences a line seems to hold: ends followed by a capital letter or by code."""
    plain = re.sub(r"^\s*\d+\. ", "", line)
    plain = re.sub(r"`[^`]*`|\$[^$]*\$", "X", plain)
    ends = [plain[: match.start() + 1] for match in re.finditer(r"[.?!](?= +[A-Z])", plain)]
    return 1 + sum(not ABBREVIATION.search(end) for end in ends)


def test_sentences_are_counted() -> None:
    lines = [
        "One. Two.",
        "One. `two` is code.",
        "- **Lead.** One sentence.",
        "1. First step.",
        "Conover, *Practical Statistics*; Barrett et al. Virtual machines.",
        "Versions 3.54 and `a. B` and 1.5 are no ends.",
    ]
    assert [sentences(line) for line in lines] == [2, 2, 1, 1, 1, 1]


TERMS = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", document("docs/glossary.md"), re.MULTILINE)


def test_the_glossary_has_few_words_each_in_one_sentence() -> None:
    words = [word for word, _ in TERMS]
    assert words == sorted(words, key=str.lower)
    assert len(words) <= 60
    assert [meaning for _, meaning in TERMS if sentences(meaning) > 1 or meaning[-1] != "."] == []


def test_the_words_of_the_glossary_are_in_use() -> None:
    text = "\n".join(text for place, text in read_by_users() if "glossary" not in place).lower()
    words = [part for word, _ in TERMS for part in word.split(", ")]
    assert [word for word in words if word.lower() not in text] == []


# Words and constructions that users do not read, and what is there instead.
OLD = {
    r"\btold\b": "tied, significant; say, print",
    r"\btells? (\w+ )?(apart|from)\b|\btell them\b": "find a difference, distinguish",
    r"\b(is|are|was) (shown to|said (of|to)|able to tell)\b": "significantly …, is",
    r"\bwho(m?ever)\b|\b(of|to) wh(ich|om)\b": "name the noun, in a sentence of its own",
    r"\bnobody (is|are|to)\b": "no runner is",
    r"\bcanar(y|ies)\b": "A/A control",
    r"\bin (four|nine) (of|in) (five|ten)\b": "80 % power, 90th percentile",
    r"\bmachine was late\b": "load generator fell behind",
    r"\bplanned (rate|start|load)": "offered load, scheduled start",
    r"\bsustain(ed|able) rate\b": "highest offered load within a p99",
    r"\blongest (latency|of all|iteration|timer)\b|\| longest\b": "max",
    r"\bthread beside\b": "background thread",
    r"\bguard\b": "noise threshold",
}
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
NAMES = re.compile(r"\$?\{[^{}\n]*\}")  # what a template takes a value from
SENTENCE = re.compile(r'["`][^"`\n]* [^"`\n]*["`]')  # in a script or TOML, a string with a space
# What a kept run says in the words of its day.
QUOTED = re.compile(r"^- \*\*.*$", re.MULTILINE)


def literals(source: str) -> Iterator[str]:
    """The sentences that a module may print: its strings without docstrings and single words."""
    tree = ast.parse(source)
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield NAMES.sub("", node.value) if " " in node.value else ""


@cache
def read_by_users() -> list[tuple[str, str]]:
    """Place and text: documents, example reports, golden outputs, help, messages, scenarios."""
    return list(_read_by_users())


def _read_by_users() -> Iterator[tuple[str, str]]:
    for name in (name for name in DOCUMENTS if name != "CHANGELOG.md"):
        yield name, CODE.sub("", document(name))
    for file in (ROOT / "reports/example").glob("*.md"):
        yield file.name, QUOTED.sub("", CODE.sub("", file.read_text("utf-8")))
    for file in (ROOT / "harness/tests").rglob("*.ambr"):
        yield file.name, file.read_text("utf-8")
    for name, command in commands().items():
        parts = [command.help, *(getattr(each, "help", "") for each in command.params)]
        yield f"{name} --help", "\n".join(filter(None, parts))
    for file in (ROOT / "harness/sqlitmus").rglob("*.py"):
        yield file.name, "\n".join(literals(file.read_text("utf-8")))
    for file in (ROOT / "reports/templates").glob("*.j2"):
        yield file.name, re.sub(r"\{#.*?#\}", "", file.read_text("utf-8"), flags=re.DOTALL)
    for folder, pattern in (("reports/assets", "*.js"), ("scenarios", "*.toml")):
        for file in (ROOT / folder).rglob(pattern):
            texts = SENTENCE.findall(file.read_text("utf-8"))
            yield file.name, NAMES.sub("", "\n".join(texts))


@pytest.mark.parametrize("old", OLD)
def test_users_read_the_words_of_the_glossary(old: str) -> None:
    seen = [
        f"{place}: …{text[max(0, match.start() - 40) : match.end() + 20]}…"
        for place, text in read_by_users()
        for match in re.finditer(old, text, re.IGNORECASE)
    ]
    assert not seen, f"instead: {OLD[old]}"
