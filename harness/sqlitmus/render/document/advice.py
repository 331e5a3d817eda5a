"""The settings of a run as a document: what to set, then each setting with what was published."""

from collections import Counter
from collections.abc import Iterator

from sqlitmus.render.document import format as fmt, model as doc, parts, sentences, symbols
from sqlitmus.results.recommendation import Advice, Effect, Setting, Tried
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.text import counted, listed

_STYLES: dict[Effect, str] = {"unsupported": "na", "wrong": "bad", "failed": "bad"}


def content(report: Report) -> doc.Content:
    """That of a run that tried settings."""
    advice = next(each for each in report.headline if isinstance(each, Advice))
    compared = sum(bool(tried.contrast) for each in advice.settings for tried in each.tried)
    return doc.Content(
        [("", counted(len(advice.settings), "setting")), ("runner", advice.runner)],
        [*(_setting(setting, advice) for setting in advice.settings)],
        parts.verdicts(report, "Numbers are time with the setting over time without it", compared),
        sentences.best(advice),
        notices=[doc.Notice(text, "note") for text in _fits(advice)],
        answers=_overview(advice),
        lead=[*_lead(advice)],
    )


def _overview(advice: Advice) -> doc.Table:
    """All settings by group and database; where none differs, the settings' sections say it."""
    every = [tried for setting in advice.settings for tried in setting.tried]
    measured = {(t.group, t.database) for t in every if t.effect != "not measured here"}
    changed = {(t.group, t.database) for t in every if _changes(t)}
    places = [place.name for place in advice.places]
    spots = [(group, place) for group in advice.groups for place in places]
    spots = [spot for spot in spots if spot in (changed or measured)]
    rows: list[doc.Row] = []
    rest: list[doc.Row] = []
    for setting in advice.settings:
        tried = {(t.group, t.database): t for t in setting.tried}
        row = [_cell(tried[spot]) if spot in tried else symbols.NONE for spot in spots]
        head = doc.Head(setting.title, link=f"setting-{setting.name}")
        of = rows if any(map(_changes, setting.tried)) else rest
        of.append(doc.Row(head, [*row, _promise(setting)]))
    columns = [
        doc.Column(
            "-".join(filter(None, spot)), " ".join((advice.groups[spot[0]], spot[1])).strip()
        )
        for spot in spots
    ]
    columns.append(doc.Column("commit", "commit promises", "text", wide=True))
    title = "Time with the setting over time without it"
    head = doc.Column("setting", "setting", "id")
    folded = doc.Folded(f"{len(rest)} without a difference", rest, "names") if rest else None
    return doc.Table("settings", head, columns, rows, folded, title, matrix=True)


def _changes(tried: Tried) -> bool:
    return bool(tried.contrast and tried.contrast.verdict.different)


def _lead(advice: Advice) -> Iterator[str]:
    yield (
        f"{advice.runner}: time with the setting over time without it; below 1 it helps. Both "
        f"sides have the profile {advice.start}, and the setting that a row is beside."
    )
    yield f"A difference of less than {100 * advice.margin:g} % counts as nothing."


def _fits(advice: Advice) -> Iterator[str]:
    """Which databases fit into the page cache."""
    for place in advice.places:
        if place.bytes and place.cache_bytes:
            fits = "fits" if place.bytes <= place.cache_bytes else "does not fit"
            name = f"Database {place.name}" if place.name else "The database"
            yield (
                f"{name} has {fmt.size(place.bytes)} and {fits} into the page cache of "
                f"{fmt.size(place.cache_bytes)} that the driver sets by itself."
            )


def _promise(setting: Setting) -> doc.Cell:
    """Whether a commit promises less with it; empty where that was not looked at."""
    if setting.after is None or setting.before is None:
        return doc.Cell()
    if setting.weakens:
        return doc.Cell("less", style="s", tooltip=str(setting.after))
    return doc.Cell(
        "more" if setting.after.level > setting.before.level else "=", tooltip="the same"
    )


def _cell(tried: Tried) -> doc.Cell:
    if tried.contrast:
        return symbols.compared(tried.contrast)
    style = _STYLES.get(tried.effect, "un")
    return doc.Cell(tried.effect, style=style, emphasis="aside", tooltip=tried.reason)


def _setting(setting: Setting, advice: Advice) -> doc.Section:
    """One setting: what it does, what a commit promises, each group, and what others published."""
    weakens = f"It changes durability. Without it: {setting.before}. With it: {setting.after}."
    beside = f"Beside {setting.beside} on both sides." if setting.beside else ""
    lead = [setting.does, weakens if setting.weakens else "", setting.caution, beside]
    columns = [
        doc.Column("database", "database", "text", wide=True),
        doc.Column("effect", "effect", "text"),
        doc.Column("ratio", "with / without"),
        doc.Column("without", "without"),
        doc.Column("with", "with"),
        doc.Column("rest", "besides", "text"),
    ]
    head, ident = doc.Column("queries", "queries", "text"), f"setting-{setting.name}"
    blocks: list[doc.Block] = [doc.Table(ident, head, columns, [*_rows(setting, advice)])]
    if setting.published:
        texts = [f"“{p.says}” — {p.source}{f': {p.url}' if p.url else ''}"
                 for p in setting.published]  # fmt: skip
        blocks += [doc.Paragraph("Published:"), doc.Items(texts)]
    effects = Counter(tried.effect for tried in setting.tried if tried.contrast)
    count = ", ".join(f"{effect} {number}×" for effect, number in effects.most_common())
    name = f"With {setting.title}"
    return doc.Section(ident, name, [*filter(None, lead)], blocks, nav=None, finding=count)


def _rows(setting: Setting, advice: Advice) -> Iterator[doc.Row]:
    """A row for each group and database; those that were not measured for one reason are one."""
    titles = {place.name: place.title for place in advice.places}
    absent: dict[tuple[str, str], list[str]] = {}
    for tried in setting.tried:
        name = advice.groups[tried.group]
        if tried.effect == "not measured here":
            absent.setdefault((tried.database, tried.reason), []).append(name)
            continue
        times, contrast, rest = (tried.base_time, tried.new_time), tried.contrast, tried.reason
        if contrast and contrast.needs_blocks:
            needs = counted(contrast.needs_blocks, "block")
            rest = f"about {needs} would settle it, of {contrast.blocks}"
        yield doc.Row(
            doc.Head(name, (tried.database,) if tried.database else ()),
            [
                doc.Cell(titles.get(tried.database, "")),
                doc.Cell(tried.effect, style=_STYLES.get(tried.effect, "")),
                symbols.compared(contrast) if contrast else symbols.NONE,
                *(doc.Cell(fmt.time(time)[0]) if time else symbols.NONE for time in times),
                doc.Cell(rest),
            ],
        )
    for (database, reason), names in absent.items():
        effect = doc.Cell("not measured here", emphasis="aside")
        none = [symbols.NONE] * 3
        head = doc.Head(listed(names), (database,) if database else ())
        yield doc.Row(head, [doc.Cell(titles.get(database, "")), effect, *none, doc.Cell(reason)])
