"""Each runner answers from the database in every manner that it has, and counts latencies from
planned times in each open loop.
"""

from pathlib import Path

from sqlitmus.catalog.runners import Installed
from sqlitmus.run.verify import freshness
from sqlitmus.run.verify.freshness import Manner
from sqlitmus.run.verify.prober import Prober
from sqlitmus.run.verify.stalls import Loop, Stalls
from sqlitmus.vocabulary.contract import Features
from tests.contract.performed import TWINS
from tests.contract.started import RUNNERS, command, description, lacking, of_runners
from tests.known import KNOWN

NEEDS_NO_CACHE = ("open",)


@of_runners([name for name in RUNNERS if name not in TWINS])
def test_each_answer_is_the_databases(name: str, tmp_path: Path) -> None:
    line, environment = command(name)
    spec = KNOWN.runners[name]
    features = description(name)["features"]
    manners = [
        Manner(shape, integers, statement, operation)
        for shape in features["shapes"]
        for integers in features["integers"]
        for statement in features["statements"]
        for operation in features["operations"]
        if operation in ("get", "all", "iterate", "open")
        if not (operation in NEEDS_NO_CACHE and statement == "cached")
        if not lacking(features, {operation, shape})
    ]
    runner = Installed(spec, line, environment, None, None, "")
    prober = Prober(tmp_path, 60)
    for question in freshness.questions(manners, Features.model_validate(features), spec):
        answer = prober.ask(question, runner, tmp_path / "log")
        assert answer == ("ok", None), (tmp_path / "log").read_text("utf-8")


@of_runners([name for name in RUNNERS if name not in TWINS])
def test_each_stall_shows_in_the_latencies(name: str, tmp_path: Path) -> None:
    line, environment = command(name)
    features = description(name)["features"]
    loops = [
        Loop("rate", None, writer=True, together=False),
        Loop("sequence", None, writer=False, together=True),
        *(
            Loop("rate", thread, writer=False, together=False)
            for thread in ("main", "worker")
            if features.get("event_loop")
        ),
    ]
    runner = Installed(KNOWN.runners[name], line, environment, None, None, "")
    for loop in loops if "load" in features["levels"] else []:
        answer = Prober(tmp_path, 60).ask(Stalls(loop, {}), runner, tmp_path / "log")
        assert answer == ("ok", None), (loop, (tmp_path / "log").read_text("utf-8"))
