"""Query plans of old and new versions of SQLite."""

import pytest

from sqlitmus.vocabulary.text import modern


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCAN TABLE users", "SCAN users"),
        ("SEARCH TABLE users USING INDEX a (b=?)", "SEARCH users USING INDEX a (b=?)"),
        ("SEARCH TABLE users AS u USING INDEX a (b=?)", "SEARCH u USING INDEX a (b=?)"),
        ("SCAN SUBQUERY 2", "SCAN (subquery-2)"),
        ("SCAN SUBQUERY 2 AS best", "SCAN best"),
        ("USE TEMP B-TREE FOR ORDER BY", "USE TEMP B-TREE FOR ORDER BY"),
    ],
)
def test_an_old_plan_reads_as_the_new_one(old: str, new: str) -> None:
    assert modern(old) == new
    assert modern(new) == new


def test_other_plans_stay_different() -> None:
    assert modern("SCAN TABLE users") != modern("SEARCH TABLE users USING INDEX a (b=?)")
