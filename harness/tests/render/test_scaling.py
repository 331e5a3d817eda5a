from sqlitmus.render.html.curves import scaling_panels
from sqlitmus.results.report import Curve, Interval, Point, Runner, Scaling

RUNNERS = [Runner(name, name, name.title(), "driver", "runner") for name in ("node", "bun")]


def curves(points: list[Point], cores: int = 2) -> Scaling:
    return Scaling("parallel", "Parallel", {}, cores, [Curve("node", points), Curve("bun", points)])


def test_a_panel_per_runtime_marks_where_cores_end() -> None:
    points = [Point(n, Interval(1e5 * n, 0.9e5 * n, 1.1e5 * n)) for n in (1, 2, 4)]
    panels = scaling_panels(curves(points), RUNNERS)
    assert [panel.title for panel in panels] == ["Node", "Bun"]
    assert panels[0].shade == panels[0].x_ticks[1][0]
    line = panels[0].lines[0]
    # Perfect scaling lies on its own guide.
    assert [float(v) for v in line.ideal.split()[-1].split(",")] == list(line.marks[-1])


def test_within_the_cores_nothing_is_shaded_and_one_worker_still_draws() -> None:
    points = [Point(1, Interval(1e5, None, None))]
    (panel, *_) = scaling_panels(curves(points, cores=8), RUNNERS)
    assert panel.shade is None
    assert len(panel.x_ticks) == 1
    assert scaling_panels(Scaling("p", "P", {}, 2, []), RUNNERS) == []
