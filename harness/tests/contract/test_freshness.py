"""Each runner answers from the database in every manner that it has, and counts latencies from
planned times in each open loop.
"""

from itertools import product
from pathlib import Path

from sqlitmus.run.verify import freshness
from sqlitmus.run.verify.freshness import Manner
from sqlitmus.run.verify.prober import Prober
from sqlitmus.run.verify.stalls import Loop, Stalls
from sqlitmus.vocabulary.contract import Features
from tests.contract.started import description, each_program, installed, lacking
from tests.known import KNOWN


@each_program
def test_each_answer_is_the_databases(name: str, tmp_path: Path) -> None:
    features = description(name)["features"]
    listed = (features[key] for key in ("shapes", "integers", "statements", "operations"))
    manners = [
        manner
        for manner in map(Manner._make, product(*listed))
        if manner.operation in ("get", "all", "iterate", "open")
        if not (manner.operation == "open" and manner.statement == "cached")
        if not lacking(features, {manner.operation, manner.shape})
    ]
    asked = freshness.questions(manners, Features.model_validate(features), KNOWN.runners[name])
    for question in asked:
        answer = Prober(tmp_path, 60).ask(question, installed(name), tmp_path / "log")
        assert answer == ("ok", None), (tmp_path / "log").read_text("utf-8")


@each_program
def test_each_stall_shows_in_the_latencies(name: str, tmp_path: Path) -> None:
    features = description(name)["features"]
    threads = ("main", "worker") if features.get("event_loop") else ()
    loops = [
        Loop("rate", None, writer=True, together=False),
        Loop("sequence", None, writer=False, together=True),
        *(Loop("rate", thread, writer=False, together=False) for thread in threads),
    ]
    for loop in loops if "load" in features["levels"] else []:
        answer = Prober(tmp_path, 60).ask(Stalls(loop, {}), installed(name), tmp_path / "log")
        assert answer == ("ok", None), (loop, (tmp_path / "log").read_text("utf-8"))
